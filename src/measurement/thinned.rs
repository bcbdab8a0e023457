//! Units for halves that meet, told from some of their passes.
//!
//! A unit at record size takes minutes, but consists of thousands of passes of milliseconds each; the kernel itself makes a
//! random part of them and tells without bias what all would come to. The share is learnt: it is what made earlier units take
//! about as long as they should. Of a unit that takes too long all the same an eighth of what was drawn is counted: none is
//! left out, so that slow units count as much as they weigh.
//!
//! Beyond record size a unit is more cuts than can be gone through, so that it is narrowed first.

use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use queens::kernel::meet::{Thinning, free_rows_at_best};
use queens::kernel::{Meet, Method};
use queens::plan::{Draw, Step};
use rand::RngExt;
use rand::rngs::StdRng;

use super::{Progress, Running, Start, UnitSample};

/// About as many units are to be counted: they differ more among each other than what is told of one departs from it.
const UNITS: f64 = 500.0;

/// What a unit may take in any case: as long as the lists that all its passes have in common.
const LEAST: Duration = Duration::from_millis(20);

/// Of so many row sets one is drawn before anything is known: a few in each cut of a large board.
const FIRST_STRIDE: u64 = 1 << 18;

/// Of so many drawn row sets one is kept where all would take too long.
const THINNER: u64 = 8;

/// Halves meet once few enough rows are without a queen; before that the kernel goes through all queens of so many columns at
/// most in a drawn position. Each further one makes twenty times as many cuts, which take long even if none is counted.
const COLUMNS_BEFORE_CUT: usize = 1;

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
    /// The draw, narrowed until halves that meet are not many queens away.
    pub(super) fn near_its_cuts(&self, mut draw: Draw, random: &mut StdRng) -> Draw {
        let rows = usize::from(draw.position.board().n());
        let most = usize::from(free_rows_at_best(rows as u8)) + COLUMNS_BEFORE_CUT;
        while self.task.kernel.name().method == Method::Meet
            && rows - draw.position.queens().len() > most
            && let Some(narrower) = self.task.sampler.narrow(&draw, Step::Queens, random.random())
        {
            draw = narrower;
        }
        draw
    }

    /// Counts some passes of the draw. Nothing if all ends before.
    pub(super) fn count_passes(
        &self,
        draw: Draw,
        meet: Meet,
        random: &mut StdRng,
        running: &Running,
    ) -> Option<UnitSample> {
        let stride = self.pace.lock().stride as u64;
        let mut thinning = Thinning::new(stride, random.random());
        loop {
            let stop = running.begin();
            let (begun, begun_here) = (Instant::now(), ThreadTime::now());
            let clock = || begun_here.elapsed().as_secs_f64() * 1e9;
            let projection = meet.project(&draw.position, thinning, &clock, &stop, &self.ended);
            if self.task.start != Start::EachUnit {
                // Where nothing was drawn the time is that of the way to it, which no greater distance makes shorter.
                let is_empty = projection.is_some_and(|projection| projection.nodes == 0.0);
                self.pace.lock().learn(if is_empty { Duration::ZERO } else { begun.elapsed() });
            }
            if let Some(projection) = projection {
                return Some(UnitSample {
                    is_part: thinning.stride() > 1 || draw.depth > 0,
                    draw,
                    completions: projection.completions,
                    nodes: projection.nodes,
                    nanoseconds: projection.time,
                });
            }
            if self.ended.is_stopped() {
                return None;
            }
            let times = if thinning.stride() == 1 { FIRST_STRIDE } else { THINNER };
            thinning = thinning.thinner(times, random.random());
        }
    }
}
