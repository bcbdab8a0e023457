//! The paths and their content.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Form, FromRequest, Path, Query, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY, RETRY_AFTER, SET_COOKIE,
    WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use coordinator::admission::{Caller, Crowded, Limits, Peer, Right, Seats};
use domain::{Owner, Phase, RunStatus};
use serde::Deserialize;
use tokio::sync::mpsc::channel;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

use crate::broadcast::{Broadcast, Viewer};
use crate::door::Door;
use crate::unit_page::{NoAccount, RunSource};
use crate::{metrics, page};

/// Time without news after which a viewer gets an empty message, so that both ends notice a broken connection.
const SILENCE: Duration = Duration::from_secs(15);

/// Maximum size of a form with a typed token, in bytes.
const MAX_FORM_BYTES: usize = 1024;

/// Maximum time for its arrival.
const FORM_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum numbers of viewers.
const LIMITS: Limits = Limits { participants: 0, readers: 64, readers_at_an_address: usize::MAX };

/// The sources from which a page may load, and that no page may frame it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// How long caches may keep what is answered: nothing for holders of tokens, the files of a public page, and its document.
const NOT_KEPT: &str = "no-store";
const KEPT: &str = "public, max-age=300";
const DOCUMENT_KEPT: &str = "public, max-age=5";

/// The shared state of all requests.
#[derive(Debug)]
pub struct Site {
    broadcast: Broadcast,
    source: Arc<dyn RunSource>,
    door: Door,
    seats: Arc<Seats>,
    /// Each viewer has a receiver.
    viewers: watch::Sender<()>,
}

impl Site {
    /// A site for the viewers that the door admits.
    pub fn new(broadcast: Broadcast, source: Arc<dyn RunSource>, door: Door) -> Self {
        let (seats, viewers) = (Arc::new(Seats::new(LIMITS)), watch::Sender::default());
        Self { broadcast, source, door, seats, viewers }
    }

    /// The limits on connections.
    pub fn seats(&self) -> &Arc<Seats> {
        &self.seats
    }

    /// Gives a connection of this owner a viewer's seat.
    fn watch(&self, peer: &Peer, owner: Owner) -> Result<Watching, Crowded> {
        self.seats.admit(peer, &Caller { owner, right: Right::Read })?;
        let (seats, peer) = (Arc::clone(&self.seats), peer.clone());
        Ok(Watching { seats, peer, _viewer: self.viewers.subscribe() })
    }

    /// Waits until all viewers have left.
    pub async fn all_viewers_left(&self) {
        self.viewers.closed().await;
    }
}

/// The seat of a viewer.
#[derive(Debug)]
struct Watching {
    seats: Arc<Seats>,
    peer: Peer,
    _viewer: watch::Receiver<()>,
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.seats.give_up(&self.peer);
    }
}

/// The router of all paths.
pub fn router(site: Arc<Site>) -> Router {
    let kept = if site.door.is_public() { KEPT } else { NOT_KEPT };
    let file = |content_type: &'static str, text: &'static str| {
        get(async move || ([(CONTENT_TYPE, content_type), (CACHE_CONTROL, kept)], text))
    };
    let script = |text| file("text/javascript; charset=utf-8", text);
    let guarded = Router::new()
        .route("/", get(async || html(page::of_operator())))
        .route("/events", get(events))
        .route("/metrics", get(metrics))
        .route("/unit/{unit}", get(unit))
        .layer(from_fn_with_state(Arc::clone(&site), admit))
        .route("/", post(submit_token).layer(DefaultBodyLimit::max(MAX_FORM_BYTES)));
    Router::new()
        .merge(guarded)
        .route("/dashboard.css", file("text/css; charset=utf-8", include_str!("../assets/dashboard.css")))
        .route("/dashboard.js", script(include_str!("../assets/dashboard.js")))
        .route("/public.js", script(include_str!("../assets/public.js")))
        .route("/public.json", get(public_document))
        .route("/elements.js", script(include_str!("../assets/elements.js")))
        .route("/families.js", script(include_str!("../assets/families.js")))
        .route("/run.js", script(include_str!("../assets/run.js")))
        .route("/speed.js", script(include_str!("../assets/speed.js")))
        .route("/diadem.svg", file("image/svg+xml", include_str!("../assets/diadem.svg")))
        .route("/healthz", get(async || "alive\n"))
        .route("/readyz", get(ready))
        .layer(from_fn_with_state(Arc::clone(&site), check_host))
        .layer(map_response(add_security_headers))
        .with_state(site)
}

/// The parameters in the address or in the token form.
#[derive(Deserialize)]
struct Asked {
    token: Option<String>,
}

impl Asked {
    /// The way to the page, with a cookie for the token if that lets in.
    fn cookie(self, door: &Door) -> Option<Response> {
        let cookie = door.cookie(&self.token?)?;
        // Relative, because a proxy may serve the page below another path.
        let headers = [(SET_COOKIE, cookie), (LOCATION, HeaderValue::from_static("./"))];
        Some((StatusCode::SEE_OTHER, headers).into_response())
    }
}

/// The page that asks for a token.
fn ask() -> Response {
    let headers = [(WWW_AUTHENTICATE, "Bearer"), (CONTENT_TYPE, "text/html; charset=utf-8")];
    (StatusCode::UNAUTHORIZED, headers, include_str!("../assets/token.html")).into_response()
}

/// Stores a typed token in a cookie, so that no address in the browser's history contains it.
async fn submit_token(State(site): State<Arc<Site>>, request: Request) -> Response {
    if !site.door.asks() {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let typed = timeout(FORM_TIMEOUT, Form::<Asked>::from_request(request, &())).await;
    typed.ok().and_then(Result::ok).and_then(|Form(asked)| asked.cookie(&site.door)).unwrap_or_else(ask)
}

/// Admits callers who may see the dashboard. A token in the address goes into a cookie.
async fn admit(
    State(site): State<Arc<Site>>,
    Query(asked): Query<Asked>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Some(cookie) = asked.cookie(&site.door) {
        return cookie;
    }
    let Some(owner) = site.door.reader(request.headers()) else {
        return if site.door.is_public() { show_everybody(&site.door, &request) } else { ask() };
    };
    request.extensions_mut().insert(owner);
    next.run(request).await
}

/// The public page. The other paths are for the operator, who asks for the form with `/?token`.
fn show_everybody(door: &Door, request: &Request) -> Response {
    match (request.uri().path(), request.uri().query()) {
        ("/", query) if !(door.asks() && query.is_some_and(|query| query.starts_with("token"))) => {
            html(page::of_everybody(door.asks()))
        }
        _ if door.asks() => ask(),
        _ => {
            let why = "this is a public run without keys: only its operator's terminal shows more, as diadem status\n";
            (StatusCode::FORBIDDEN, why).into_response()
        }
    }
}

fn html(text: String) -> Response {
    ([(CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response()
}

/// The state of a public run, for the public page. Caches may answer for the coordinator.
async fn public_document(State(site): State<Arc<Site>>) -> Response {
    let Some(document) = &site.broadcast.document else { return StatusCode::NOT_FOUND.into_response() };
    let document = Bytes::clone(&document.borrow());
    ([(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, DOCUMENT_KEPT)], document).into_response()
}

async fn check_host(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    if site.door.is_meant(request.headers()) {
        return next.run(request).await;
    }
    let why = "without keys this dashboard is reached by an address, or by a name without dots: as localhost, 127.0.0.1\n";
    (StatusCode::MISDIRECTED_REQUEST, why).into_response()
}

async fn add_security_headers(mut response: Response) -> impl IntoResponse {
    response.headers_mut().entry(CACHE_CONTROL).or_insert(HeaderValue::from_static(NOT_KEPT));
    let headers = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
    ];
    (headers, response)
}

/// The sections of the page, as they change.
async fn events(
    State(site): State<Arc<Site>>,
    Extension(peer): Extension<Peer>,
    Extension(owner): Extension<Owner>,
    headers: HeaderMap,
) -> Response {
    let Ok(watching) = site.watch(&peer, owner) else {
        let why = "too many watch already; it is tried again in a minute\n";
        return (StatusCode::SERVICE_UNAVAILABLE, [(RETRY_AFTER, "60")], why).into_response();
    };
    let viewer = site.broadcast.viewer();
    let may_go_on = move || site.door.reader(&headers).is_some();
    let stream = updates(viewer, watching, may_go_on).map(Ok::<_, Infallible>);
    ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(stream)).into_response()
}

/// The updates for a viewer, until its token is revoked or its seat is lost. While the viewer does not read, no updates
/// are built for it.
fn updates(
    mut viewer: Viewer,
    watching: Watching,
    may_go_on: impl Fn() -> bool + Send + Sync + 'static,
) -> ReceiverStream<Bytes> {
    let (sender, receiver) = channel(1);
    tokio::spawn(async move {
        let _watching = watching;
        let tell = async {
            loop {
                let text = match timeout(SILENCE, viewer.next()).await {
                    Ok(Some(text)) => text,
                    Ok(None) => return,
                    Err(_) => Bytes::from_static(b"event: nothing\ndata\n\n"),
                };
                if !may_go_on() || sender.send(text).await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            () = tell => {}
            () = sender.closed() => {}
        }
    });
    ReceiverStream::new(receiver)
}

async fn metrics(State(site): State<Arc<Site>>) -> Response {
    let status = Arc::clone(&site.broadcast.status.borrow());
    let text = metrics::text(&status, site.source.has_disk_trouble());
    ([(CONTENT_TYPE, metrics::CONTENT_TYPE)], text).into_response()
}

/// The page of one unit.
async fn unit(State(site): State<Arc<Site>>, Path(unit): Path<String>) -> Response {
    let explained = match unit.parse() {
        Ok(number) => site.source.explain_unit(number).await,
        Err(_) => Err(NoAccount::Unknown(format!("{unit:?} is not the number of a unit, as in /unit/17"))),
    };
    let (code, page) = match explained {
        Ok(account) => (StatusCode::OK, account.page()),
        Err(why @ NoAccount::Unknown(_)) => (StatusCode::NOT_FOUND, why.page()),
        Err(why @ NoAccount::Unavailable(_)) => (StatusCode::SERVICE_UNAVAILABLE, why.page()),
    };
    (code, [(CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
}

/// The readiness of the run. Every caller may ask, so the reply contains no details.
async fn ready(State(site): State<Arc<Site>>) -> Response {
    match reason_not_ready(&site.broadcast.status.borrow()) {
        None => "ready\n".into_response(),
        Some(why) => (StatusCode::SERVICE_UNAVAILABLE, why).into_response(),
    }
}

fn reason_not_ready(status: &RunStatus) -> Option<&'static str> {
    match status.phase {
        Phase::Withheld => Some("the answer is withheld: the dashboard and the log say why\n"),
        Phase::Complete => None,
        Phase::Counting | Phase::Auditing if status.trouble.is_empty() => None,
        Phase::Counting | Phase::Auditing => {
            Some("the run does not go on: the dashboard and the log say why\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use coordinator::admission::{Access, Guard};
    use coordinator::core::Core;
    use queens::{Board, Plan, PlanSpec};
    use records::DoubleCheck;
    use records::run_directory::LeaseKey;
    use records::shard::Shard;
    use records::standing::Standing;
    use tokio_stream::wrappers::WatchStream;

    use super::*;
    use crate::unit_page::Explaining;

    /// The status of a run with this number of counted units.
    fn status(done: u64) -> RunStatus {
        let plan = Plan::derive(PlanSpec::new(Board::new(8).unwrap())).unwrap();
        let (standing, key) = (Standing::new(&plan), LeaseKey::random());
        let core = Core::new(Arc::new(plan), Shard::default(), standing, DoubleCheck::None.into(), key, 7);
        RunStatus { done, ..core.status(Duration::ZERO) }
    }

    /// The number of messages until a viewer learns that this number of units is counted.
    async fn words_until(viewer: &mut ReceiverStream<Bytes>, done: u64) -> usize {
        let (wanted, mut words) = (format!("\"done\":\"{done}\""), 0);
        loop {
            let text =
                timeout(SILENCE, viewer.next()).await.expect("the viewer is held up").expect("more comes");
            words += 1;
            if str::from_utf8(&text).unwrap().contains(&wanted) {
                return words;
            }
        }
    }

    /// A run that nobody asks.
    #[derive(Debug)]
    struct Silent;

    impl RunSource for Silent {
        fn has_disk_trouble(&self) -> bool {
            false
        }

        fn explain_unit(&self, _: u64) -> Explaining {
            Box::pin(async { Err(NoAccount::Unavailable("nobody asks".into())) })
        }
    }

    /// A run with viewers.
    struct Watched {
        statuses: watch::Sender<RunStatus>,
        site: Site,
    }

    impl Watched {
        fn begin() -> Self {
            let (announcer, broadcast) = Broadcast::begin(status(0), false);
            let (statuses, receiver) = watch::channel(status(0));
            tokio::spawn(announcer.tell(Box::pin(WatchStream::new(receiver))));
            let door = Door::new(Guard::new(Access::open(), None), ([127, 0, 0, 1], 1).into(), false);
            Self { statuses, site: Site::new(broadcast, Arc::new(Silent), door) }
        }

        /// Adds a viewer of this owner. Returns its connection and its updates.
        fn watch(&self, owner: &str) -> (Peer, ReceiverStream<Bytes>) {
            let peer = self.site.seats.newcomer(([127, 0, 0, 1], 1).into(), false);
            let watching = self.site.watch(&peer, Owner::new(owner)).unwrap();
            (peer, updates(self.site.broadcast.viewer(), watching, || true))
        }

        /// Counts this number of units one after the other; the attentive viewer learns of each.
        async fn count(&self, units: u64, attentive: &mut ReceiverStream<Bytes>) {
            for done in 1..=units {
                self.statuses.send_replace(status(done));
                words_until(attentive, done).await;
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn slow_viewer_skips_updates_and_delays_no_other() {
        let watched = Watched::begin();
        let [(_, mut deaf), (_, mut attentive)] = ["status"; 2].map(|owner| watched.watch(owner));
        watched.count(20, &mut attentive).await;
        assert!(words_until(&mut deaf, 20).await < 5, "the viewer missed what came between");
    }

    #[tokio::test(start_paused = true)]
    async fn slow_viewer_yields_its_seat() {
        let watched = Watched::begin();
        let mut viewers: Vec<_> = (0..LIMITS.readers).map(|_| watched.watch("status")).collect();
        // If one owner has all seats, its latest viewer loses its seat.
        let (peer, _deaf) = viewers.pop().unwrap();
        watched.count(3, &mut viewers[0].1).await;
        assert!(timeout(SILENCE, peer.closed()).await.is_err());
        let _newcomer = watched.watch("ada");
        timeout(SILENCE, peer.closed()).await.expect("a viewer with unread data stays connected");
    }

    #[tokio::test(start_paused = true)]
    async fn all_viewers_have_left_when_their_streams_end() {
        let watched = Watched::begin();
        let viewer = watched.watch("status");
        assert!(timeout(SILENCE, watched.site.all_viewers_left()).await.is_err());
        drop(viewer);
        timeout(SILENCE, watched.site.all_viewers_left()).await.expect("none is left");
    }
}
