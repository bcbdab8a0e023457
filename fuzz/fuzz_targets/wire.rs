//! The wire conversion: any bytes as every message, and back again where they made sense.

#![no_main]

use std::fmt::Debug;

use domain::{
    FollowReply, FollowRequest, LeaseReply, PolicyChange, PolicyInForce, Registration, Renewal, Report,
    RunStatus, Steering, Takeback, Welcome,
};
use libfuzzer_sys::fuzz_target;
use prost::Message;
use proto::{plan_from_reply, v1};
use queens::Plan;

fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, bytes)) = bytes.split_first() else { return };
    match kind % 13 {
        0 => there_and_back::<v1::RegisterRequest, Registration>(bytes),
        1 => there_and_back::<v1::RegisterReply, Welcome>(bytes),
        2 => there_and_back::<v1::LeaseReply, LeaseReply>(bytes),
        3 => there_and_back::<v1::ReportRequest, Report>(bytes),
        4 => there_and_back::<v1::StatusReply, RunStatus>(bytes),
        5 => there_and_back::<v1::RenewReply, Renewal>(bytes),
        6 => there_and_back::<v1::FollowRequest, FollowRequest>(bytes),
        7 => there_and_back::<v1::FollowReply, FollowReply>(bytes),
        8 => there_and_back::<v1::ChangePolicyRequest, PolicyChange>(bytes),
        9 => there_and_back::<v1::ChangePolicyReply, PolicyInForce>(bytes),
        10 => there_and_back::<v1::RetractRequest, Takeback>(bytes),
        11 => there_and_back::<v1::SteerRequest, Steering>(bytes),
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
    // Not by equality: NaN never equals itself.
    assert_eq!(format!("{domain:?}"), format!("{again:?}"));
}

fn plan(bytes: &[u8]) {
    let Ok(reply) = v1::PlanReply::decode(bytes) else { return };
    let Ok((spec, _)) = plan_from_reply(reply) else { return };
    if spec.n.n() <= 6 {
        let _ = Plan::derive(spec);
    }
}
