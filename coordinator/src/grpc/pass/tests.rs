use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime};

use domain::{AccessToken, Owner};
use rustls_pki_types::CertificateDer;
use tonic::Code;

use super::*;

const READING: [&str; 3] =
    ["/diadem.v1.Coordinator/Status", "/diadem.v1.Coordinator/Watch", "/diadem.v1.Coordinator/Head"];

const JOINING: [&str; 8] = [
    "/diadem.v1.Coordinator/Plan",
    "/diadem.v1.Coordinator/Register",
    "/diadem.v1.Coordinator/Lease",
    "/diadem.v1.Coordinator/Renew",
    "/diadem.v1.Coordinator/Report",
    "/diadem.v1.Coordinator/Release",
    "/grpc.health.v1.Health/Check",
    "/something/else",
];

const FOLLOWING: [&str; 1] = ["/diadem.v1.Coordinator/Follow"];

const ADMINISTERING: [&str; 2] = ["/diadem.v1.Coordinator/Retract", "/diadem.v1.Coordinator/NotYetKnown"];

fn token(digit: char) -> AccessToken {
    digit.to_string().repeat(64).parse().unwrap()
}

#[test]
fn expired_token_is_refused_for_good() {
    let mut bearers = Bearers::default();
    let now = SystemTime::now();
    let hour = Duration::from_hours(1);
    bearers.admit_until(&token('1'), Owner::new("ada"), Right::Join, Some(now - hour));
    bearers.admit_until(&token('2'), Owner::new("ben"), Right::Join, Some(now + hour));
    let access = Access::guarded(bearers);
    assert_eq!(verdict(&access, JOINING[0], Some('1'), false), Err(Code::PermissionDenied));
    assert!(verdict(&access, JOINING[0], Some('2'), false).is_ok());
}

/// Tokens by right: 1 and 2 join, 3 reads, 4 follows, 5 administers.
fn access() -> Access {
    let mut bearers = Bearers::default();
    bearers.admit(&token('1'), Owner::new("join"), Right::Join);
    bearers.admit(&token('2'), Owner::new("friend"), Right::Join);
    bearers.admit(&token('3'), Owner::new("status"), Right::Read);
    bearers.admit(&token('4'), Owner::new("follow"), Right::Follow);
    bearers.admit(&token('5'), Owner::new("admin"), Right::Admin);
    Access::guarded(bearers)
}

fn certificate() -> CertificateDer<'static> {
    CertificateDer::from(b"not quite a certificate".to_vec())
}

fn pass(access: &Access, path: &str, shown: Option<char>, certified: Option<&Caller>) -> Pass {
    let mut request = Request::get(path);
    if let Some(digit) = shown {
        request = request.header(AUTHORIZATION, token(digit).to_bearer());
    }
    Pass::of(access, &request.body(()).unwrap(), certified)
}

fn verdict(access: &Access, path: &str, shown: Option<char>, certified: bool) -> Result<Caller, Code> {
    let certified = certified.then(|| Caller::certified(&certificate()));
    pass(access, path, shown, certified.as_ref()).judge().map_err(|status| status.code())
}

#[test]
fn each_call_needs_the_right_bearer() {
    let access = access();
    let calls = [
        (&READING[..], Right::Read),
        (&JOINING, Right::Join),
        (&FOLLOWING, Right::Follow),
        (&ADMINISTERING, Right::Admin),
    ];
    let bearers = [
        ('1', Right::Join, "join"),
        ('2', Right::Join, "friend"),
        ('3', Right::Read, "status"),
        ('4', Right::Follow, "follow"),
        ('5', Right::Admin, "admin"),
    ];
    for (paths, needed) in calls {
        for path in paths {
            for (shown, right, owner) in bearers {
                let found = verdict(&access, path, Some(shown), false);
                let follows = (right, needed) == (Right::Admin, Right::Follow);
                if right == needed || needed == Right::Read || follows {
                    assert_eq!(found, Ok(Caller { owner: Owner::new(owner), right }), "{path} {shown}");
                } else {
                    assert_eq!(found, Err(Code::PermissionDenied), "{path} {shown}");
                }
            }
            assert_eq!(verdict(&access, path, Some('9'), false), Err(Code::Unauthenticated));
            assert_eq!(verdict(&access, path, None, false), Err(Code::Unauthenticated));
            let certified = verdict(&access, path, None, true).map(|caller| caller.right);
            let may = matches!(needed, Right::Read | Right::Join);
            assert_eq!(certified, if may { Ok(Right::Join) } else { Err(Code::PermissionDenied) }, "{path}");
        }
    }
    let both = verdict(&access, ADMINISTERING[0], Some('5'), true).unwrap();
    assert_eq!(both.owner, Owner::new("admin"), "a certificate takes nothing from a token");
    assert_eq!(verdict(&access, JOINING[0], Some('9'), true).unwrap().right, Right::Join);
}

#[test]
fn guarded_needs_token_and_open_admits_all() {
    for path in READING.iter().chain(&JOINING).chain(&FOLLOWING).chain(&ADMINISTERING) {
        let nobody = Access::guarded(Bearers::default());
        assert_eq!(verdict(&nobody, path, Some('1'), false), Err(Code::Unauthenticated));
        assert_eq!(verdict(&Access::open(), path, None, false), Ok(Caller::anybody()));
    }
}

#[test]
fn revoked_owner_is_refused_and_others_pass() {
    let access = access();
    let owner = Caller::certified(&certificate()).owner;
    assert_eq!(owner.name().len(), "certificate-".len() + 16);
    let mut bearers = Bearers::default();
    bearers.admit(&token('1'), Owner::new("join"), Right::Join);
    bearers.admit(&token('2'), Owner::new("friend"), Right::Join);
    bearers.revoke(Owner::new("friend"));
    bearers.revoke(owner);
    access.clone().replace(bearers);
    for path in READING.iter().chain(&JOINING) {
        assert_eq!(verdict(&access, path, Some('2'), false), Err(Code::PermissionDenied));
        assert_eq!(verdict(&access, path, None, true), Err(Code::PermissionDenied));
        assert!(verdict(&access, path, Some('1'), false).is_ok());
        assert_eq!(verdict(&access, path, Some('3'), false), Err(Code::Unauthenticated), "it was replaced");
    }
}

#[test]
fn only_refusal_of_revoked_owner_is_permanent() {
    let access = access();
    let mut bearers = Bearers::default();
    bearers.admit(&token('2'), Owner::new("friend"), Right::Join);
    bearers.admit(&token('3'), Owner::new("status"), Right::Read);
    bearers.revoke(Owner::new("friend"));
    access.replace(bearers);
    for (shown, code, is_meant_for_good) in [
        ('2', Code::PermissionDenied, true),
        ('3', Code::PermissionDenied, false),
        ('9', Code::Unauthenticated, false),
    ] {
        let refusal = pass(&access, JOINING[0], Some(shown), None).judge().unwrap_err();
        assert_eq!((refusal.code(), proto::is_for_good(&refusal)), (code, is_meant_for_good), "{shown}");
    }
}

#[test]
fn open_call_ends_when_its_caller_is_revoked() {
    let access = access();
    let passes = |path: &str, digit: char| -> Pin<Box<dyn Future<Output = Status>>> {
        let pass = pass(&access, path, Some(digit), None);
        assert!(pass.judge().is_ok());
        Box::pin(pass.ended())
    };
    let (mut of_friend, mut of_follower) = (passes(READING[1], '2'), passes(FOLLOWING[0], '4'));
    let end = |call: &mut Pin<Box<dyn Future<Output = Status>>>| {
        let end = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        if let Poll::Ready(status) = end { Some(status.code()) } else { None }
    };
    let mut bearers = Bearers::default();
    bearers.admit(&token('2'), Owner::new("friend"), Right::Join);
    bearers.admit(&token('4'), Owner::new("follow"), Right::Follow);
    assert_eq!((end(&mut of_friend), end(&mut of_follower)), (None, None));
    access.replace(bearers.clone());
    assert_eq!((end(&mut of_friend), end(&mut of_follower)), (None, None), "theirs are as they were");
    bearers.revoke(Owner::new("friend"));
    access.replace(bearers);
    assert_eq!((end(&mut of_friend), end(&mut of_follower)), (Some(Code::PermissionDenied), None));
    access.replace(Bearers::default());
    assert_eq!(end(&mut of_follower), Some(Code::Unauthenticated));
}
