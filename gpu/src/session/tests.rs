//! What becomes of copies that never end.

use std::sync::mpsc::channel;
use std::thread;

use opencl3::event::{create_user_event, set_user_event_status};

use super::*;
use crate::device::devices;

#[test]
fn a_copy_that_never_ends_is_not_waited_for_for_ever() {
    let found = devices();
    assert!(found.is_ok() || std::env::var_os("DIADEM_TEST_TOOLS").is_none(), "{found:?}");
    for device in found.unwrap_or_default().into_iter().filter(|device| device.unusable().is_none()) {
        let source = KernelSource { text: "KERNEL(1) nothing(void) {}", macros: Vec::new() };
        let mut session = Session::new(device, &source).unwrap();
        let queue = session.queue().unwrap();
        let mut buffer = session.buffer(&queue, &[1u32, 2]).unwrap();
        // All that is enqueued behind this waits for it, and it ends by itself after a while only.
        let gate = create_user_event(session.context.get()).unwrap();
        // SAFETY: the event is there until the end.
        unsafe { queue.enqueue_marker_with_wait_list(&[gate]) }.unwrap();
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
        session.hangs = HANGS;
        session.read(&queue, &buffer, &mut values).unwrap();
        assert_eq!(values, [3, 4], "what was sent was kept for it");
    }
}
