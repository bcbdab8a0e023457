//! Units for halves that meet, told from some of their passes.
//!
//! A unit at record size takes minutes, but consists of thousands of passes of milliseconds each; the kernel itself makes a
//! random part of them and tells without bias what all would come to. The share is learnt: it is what made earlier units take
//! about as long as they should. Of a unit that takes too long all the same an eighth of what was drawn is counted: none is
//! left out, so that slow units count as much as they weigh.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use queens::kernel::Meet;
use queens::kernel::meet::Thinning;
use queens::plan::Draw;
use rand::RngExt;
use rand::rngs::StdRng;

use super::{Progress, Running, Start, UnitSample, locked};

/// About as many units are to be counted: they differ more among each other than what is told of one departs from it.
const UNITS: f64 = 500.0;

/// What a unit may take in any case: as long as the lists that all its passes have in common.
const LEAST: Duration = Duration::from_millis(20);

/// Of so many row sets one is drawn before anything is known: a few in each cut of a large board.
const FIRST_STRIDE: u64 = 1 << 18;

/// Of so many drawn row sets one is kept where all would take too long.
const THINNER: u64 = 8;

/// How far apart row sets are drawn, so that a unit takes about as long as it should.
pub struct PassPace {
    stride: f64,
    wished: Duration,
}

impl PassPace {
    /// For units of a measurement that takes so long. Each unit of a small board is to be counted whole.
    pub fn new(time: Duration, start: Start) -> Self {
        let stride = if start == Start::EachUnit { 1 } else { FIRST_STRIDE };
        Self { stride: stride as f64, wished: time.div_f64(UNITS).max(LEAST) }
    }

    /// Takes in how long a unit took; half of that, for units differ.
    fn learn(&mut self, taken: Duration) {
        let ratio = taken.div_duration_f64(self.wished).clamp(0.25, 4.0);
        self.stride = (self.stride * ratio.sqrt()).max(1.0);
    }
}

impl Progress<'_> {
    /// Counts some passes of the draw. Nothing if it is interrupted.
    pub(super) fn count_passes(
        &self,
        draw: Draw,
        meet: Meet,
        random: &mut StdRng,
        running: &Running,
    ) -> Option<UnitSample> {
        let stride = locked(&self.pace).stride as u64;
        let mut thinning = Thinning::new(stride, random.random());
        loop {
            let stop = running.begin();
            let (begun, begun_here) = (Instant::now(), ThreadTime::now());
            let clock = || begun_here.elapsed().as_secs_f64() * 1e9;
            let projection = meet.project(&draw.position, thinning, &clock, &stop, &self.interrupted);
            if self.task.start != Start::EachUnit {
                locked(&self.pace).learn(begun.elapsed());
            }
            if let Some(projection) = projection {
                return Some(UnitSample {
                    draw,
                    is_part: thinning.stride() > 1,
                    completions: projection.completions,
                    nodes: projection.nodes,
                    nanoseconds: projection.time,
                });
            }
            if self.task.interrupted.load(Ordering::Relaxed) {
                return None;
            }
            let times = if thinning.stride() == 1 { FIRST_STRIDE } else { THINNER };
            thinning = thinning.thinner(times, random.random());
        }
    }
}
