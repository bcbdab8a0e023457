//! The wire conversion: any bytes as every message, and back again where they made sense.

#![no_main]

use std::fmt::Debug;

use libfuzzer_sys::fuzz_target;
use prost::Message;
use proto::{LeaseReply, Registration, Report, RunStatus, Welcome, plan_from_reply, v1};
use queens::Plan;

fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, bytes)) = bytes.split_first() else { return };
    match kind % 6 {
        0 => there_and_back::<v1::RegisterRequest, Registration>(bytes),
        1 => there_and_back::<v1::RegisterReply, Welcome>(bytes),
        2 => there_and_back::<v1::LeaseReply, LeaseReply>(bytes),
        3 => there_and_back::<v1::ReportRequest, Report>(bytes),
        4 => there_and_back::<v1::StatusReply, RunStatus>(bytes),
        _ => plan(bytes),
    }
});

/// What can be understood is the same after having been sent once more.
fn there_and_back<W, D>(bytes: &[u8])
where
    W: Message + Default + From<D> + TryInto<D>,
    D: Clone + Debug,
    W::Error: Debug,
{
    let Ok(message) = W::decode(bytes) else { return };
    let Ok(domain) = message.try_into() else { return };
    let sent = W::from(domain.clone()).encode_to_vec();
    let again: D = W::decode(&sent[..]).unwrap().try_into().expect("what was sent is understood");
    // Not by equality: what is no number never equals itself.
    assert_eq!(format!("{domain:?}"), format!("{again:?}"));
}

fn plan(bytes: &[u8]) {
    let Ok(reply) = v1::PlanReply::decode(bytes) else { return };
    let Ok((spec, _)) = plan_from_reply(reply) else { return };
    if spec.n.n() <= 6 {
        let _ = Plan::derive(spec);
    }
}
