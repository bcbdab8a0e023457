//! Copies that never end, and launches that fail.

use std::sync::mpsc::channel;
use std::thread;

use opencl3::event::{create_user_event, set_user_event_status};
use opencl3::kernel::ExecuteKernel;

use super::*;
use crate::device::devices;

/// A session on each device; none without OpenCL, unless it is required.
fn sessions() -> Vec<Session> {
    let found = devices();
    assert!(found.is_ok() || std::env::var_os("DIADEM_TEST_TOOLS").is_none(), "{found:?}");
    let found = found.unwrap_or_default().into_iter().filter(|device| device.unusable().is_none());
    let source = KernelSource { text: "KERNEL(1) nothing(void) {}", macros: Vec::new() };
    found.map(|device| Session::new(device, &source).unwrap()).collect()
}

#[test]
fn failed_launch_before_good_launches_is_detected() {
    for session in sessions() {
        let queue = session.queue().unwrap();
        let mut buffer = session.buffer(&queue, &[1u32]).unwrap();
        // Nothing that is enqueued waits for it.
        let launches = || {
            let failed = create_user_event(session.context.get()).unwrap();
            set_user_event_status(failed, CL_OUT_OF_RESOURCES).unwrap();
            session.launched(&queue, Ok(Event::new(failed))).unwrap();
            // SAFETY: the kernel has no arguments.
            let ended = unsafe {
                ExecuteKernel::new(&session.kernel("nothing").unwrap())
                    .set_global_work_size(1)
                    .set_local_work_size(1)
                    .enqueue_nd_range(&queue.commands)
            };
            session.launched(&queue, ended).unwrap();
        };
        let failed = Err(session.failed("a launch")(ClError(CL_OUT_OF_RESOURCES)));
        launches();
        assert_eq!(session.settle(&queue), failed);
        launches();
        assert_eq!(session.read(&queue, &buffer, &mut [0]), failed);
        launches();
        assert_eq!(session.write(&queue, &mut buffer, &[2]), failed);
        assert_eq!(session.settle(&queue), Ok(()), "it is said once");
    }
}

#[test]
fn endless_copy_times_out() {
    for mut session in sessions() {
        let queue = session.queue().unwrap();
        let mut buffer = session.buffer(&queue, &[1u32, 2]).unwrap();
        // All later commands wait for this command, which ends by itself after a while.
        let gate = create_user_event(session.context.get()).unwrap();
        // SAFETY: the event is there until the end.
        unsafe { queue.commands.enqueue_marker_with_wait_list(&[gate]) }.unwrap();
        let (is_seen, seen) = channel::<()>();
        let event = gate as usize;
        let opening = thread::spawn(move || {
            seen.recv_timeout(Duration::from_secs(5)).ok();
            set_user_event_status(event as *mut _, CL_COMPLETE).unwrap();
        });
        session.hangs = Duration::from_millis(50);
        let hangs = GpuError::Hangs { device: session.device().title(), seconds: 0 };
        let mut values = [0; 2];
        assert_eq!(session.read(&queue, &buffer, &mut values), Err(hangs.clone()));
        assert_eq!(session.write(&queue, &mut buffer, &[3, 4]), Err(hangs.clone()));
        assert_eq!(session.room_now::<u32>(&queue, 1).err(), Some(hangs));
        is_seen.send(()).unwrap();
        opening.join().unwrap();
        session.hangs = HANG_TIMEOUT;
        session.read(&queue, &buffer, &mut values).unwrap();
        assert_eq!(values, [3, 4], "what was sent was kept for it");
    }
}
