//! The worker's self-test: it counts a known board before it registers.

use std::future::pending;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use queens::kernel::Kernel;
use queens::{Board, self_test};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::error::WorkerError;

/// A kernel that has not counted it in this time hangs: it is a matter of milliseconds.
pub const TEST_HANGS: Duration = Duration::from_mins(10);

/// Lets the kernel count the known board with a time limit, because a hanging driver cannot be interrupted.
pub(super) async fn solutions(kernel: Arc<dyn Kernel>, board: Board) -> Result<u64, WorkerError> {
    let test = spawn_blocking(move || self_test::run(&*kernel, board));
    match timeout(TEST_HANGS, test).await {
        Ok(Ok(tested)) => Ok(tested?),
        // The test was not begun, because the process ends.
        Ok(Err(cancelled)) if cancelled.is_cancelled() => pending().await,
        Ok(Err(panicked)) => resume_unwind(panicked.into_panic()),
        Err(_) => Err(WorkerError::SelfTestHangs(TEST_HANGS.as_secs() / 60)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::{Receiver, Sender, channel};

    use queens::kernel::{Count, Isa, KernelName, Method, Stop};
    use queens::{Plan, PlanSpec, Position};
    use tokio::sync::watch;
    use tokio::time::advance;

    use super::*;
    use crate::run::tests::{FakeCoordinator, config};
    use crate::{Config, Summary, Wish, run};

    /// Counts nothing until the sender is gone.
    struct Hanging(Mutex<Receiver<()>>);

    impl Kernel for Hanging {
        fn name(&self) -> KernelName {
            KernelName { method: Method::Search, isa: Isa::OpenCl }
        }

        fn count(&self, _: &Position, _: &Stop) -> Option<Count> {
            self.0.lock().unwrap().recv().ok();
            None
        }
    }

    fn hanging() -> (Sender<()>, Config) {
        let (ends, receiver) = channel();
        (ends, config(Arc::new(Hanging(Mutex::new(receiver)))))
    }

    async fn worker(config: Config, wish: watch::Receiver<Wish>) -> Result<Summary, WorkerError> {
        let plan = Plan::derive(PlanSpec::new(Board::new(12).unwrap())).unwrap();
        run(Arc::new(FakeCoordinator::with_units(1)), Arc::new(plan), config, wish).await
    }

    #[tokio::test]
    async fn worker_leaves_during_hanging_self_test() {
        for wish in [Wish::Drain, Wish::Leave] {
            let (_ends, config) = hanging();
            let (wishes, wished) = watch::channel(Wish::Stay);
            // The end is requested before the test begins.
            wishes.send_replace(wish);
            assert_eq!(worker(config, wished).await.unwrap(), Summary::default());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn hanging_self_test_ends_worker() {
        let (_ends, config) = hanging();
        let (_wishes, wished) = watch::channel(Wish::Stay);
        let life = tokio::spawn(worker(config, wished));
        tokio::task::yield_now().await;
        advance(TEST_HANGS + Duration::from_secs(1)).await;
        let ended = life.await.unwrap();
        assert!(matches!(ended, Err(WorkerError::SelfTestHangs(10))), "{ended:?}");
    }
}
