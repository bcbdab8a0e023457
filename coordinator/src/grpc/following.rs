//! Sends a run to a follower: what it is, its ledger from where the copy ends, and what is added to it.
//!
//! The ledger is read as it stands on disk, up to the last mark that is there for certain; the keeper is not waited for,
//! and does not wait. Pieces are read as they are taken, so that a follower that takes nothing holds two of them.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use domain::{CopyEnd, FollowReply, FollowRequest, FollowedRun, Term};
use proto::{malformed, v1};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};

use crate::grpc::service::refused;
use crate::{Ending, Following, Handle, LedgerSource, Misfit};
use records::ledger::{CommitMark, LedgerError, LedgerPosition, LineBefore, LineHash, Pieces, line_before};
use records::regular_file;
use records::run_directory::run_file::RUN_FILE;

/// A follower says within this time what it has.
const FIRST_WORD: Duration = Duration::from_secs(10);

/// So many replies wait until the follower takes them.
const WAITING: usize = 2;

type Replies = mpsc::Sender<Result<v1::FollowReply, Status>>;

/// Answers a follower's call. The last term on record of its copy is `own_term`, where that was the own one of a coordinator of
/// its folder.
///
/// # Errors
/// There is no ledger, the copy and the ledger have parted, or another coordinator goes on with the run.
pub async fn follow(
    handle: Handle,
    mut requests: Streaming<v1::FollowRequest>,
    own_term: Option<u64>,
    seat: OwnedSemaphorePermit,
) -> Result<ReceiverStream<Result<v1::FollowReply, Status>>, Status> {
    let in_memory =
        || Status::failed_precondition("this run is in memory only; nothing of it can be followed");
    let source = handle.source().cloned().ok_or_else(in_memory)?;
    let first = timeout(FIRST_WORD, requests.message()).await;
    let first = first.map_err(|_| Status::deadline_exceeded("the follower has not said what it has"))??;
    let first = first.ok_or_else(|| Status::invalid_argument("the follower has not said what it has"))?;
    let first = FollowRequest::try_from(first).map_err(|error| malformed(&error))?;
    let is_left_behind = own_term.is_some_and(|own| own < source.last_term());
    let fits = compare(&source, &first, is_left_behind).await.and(check_term(&source, first.met));
    // Whatever becomes of it, the keeper must hear what it has met.
    let wrong = |status: &Status| Misfit { why: status.message().to_owned(), is_left_behind };
    let wrong = fits.as_ref().err().map(wrong);
    let following = handle.follow(first.follower, first.end.records, first.met, wrong).await;
    let (replies, stream) = mpsc::channel(WAITING);
    if let Err(refusal) = fits {
        if refusal.code() == Code::FailedPrecondition {
            // It may be of another run, or go on as the coordinator: then it must know the term that it leaves room behind.
            replies.try_send(Ok(FollowReply::Run(run(&source, true).await?).into())).ok();
        }
        replies.try_send(Err(refusal)).ok();
        return Ok(ReceiverStream::new(stream));
    }
    let following = following.map_err(refused)?;
    tokio::spawn(async move {
        let _seat = seat;
        let sent = Arc::new(AtomicU64::new(first.end.records));
        let mut listens = pin!(listen(following, requests, Arc::clone(&sent)));
        tokio::select! {
            () = &mut listens => {}
            Err(status) = feed(&handle, source, first.end, &replies, &sent) => {
                replies.send(Err(status)).await.ok();
            }
            () = replies.closed() => {}
        }
    });
    Ok(ReceiverStream::new(stream))
}

/// Refuses a copy that is not the beginning of the ledger. One `is_left_behind` whose end a former coordinator of the run has
/// written: then another one went on from less, and has begun a term since.
async fn compare(source: &LedgerSource, first: &FollowRequest, is_left_behind: bool) -> Result<(), Status> {
    let copy = first.end;
    if copy.file == 0 {
        return Ok(());
    }
    let (folder, end) = (source.directory.ledger(), source.ends.borrow().clone());
    let mark = CommitMark { records: copy.records, ..CommitMark::default() };
    let hash = LineHash::from_bytes(copy.hash);
    let position = LedgerPosition { file: copy.file, offset: copy.offset, line: 0, hash, mark };
    let is_beyond = (copy.file, copy.offset) > (end.file, end.offset) || copy.records > end.mark.records;
    let before = spawn_blocking(move || line_before(&folder, &position)).await;
    let before = before.map_err(|_| Status::internal("reading the ledger has panicked"))?;
    let (has, copied) = (end.mark.records, copy.records);
    let before = before.map_err(|error| unreadable(&error))?;
    let run = source.directory.run().hash();
    let is_of_this = first.met.is_none_or(|met| met.number == 0 || source.key.has_proven(run, &met));
    let text = match before {
        LineBefore::Fits if !is_beyond => return Ok(()),
        _ if !is_of_this => {
            "the copy is one of another run: choose another --run directory for a copy of this one".to_owned()
        }
        LineBefore::Short if !is_beyond => {
            return Err(Status::unavailable("the coordinator's ledger is not where it was written"));
        }
        _ if is_left_behind => format!(
            "this copy and the coordinator's run have parted: the copy was a coordinator's, and the run goes on without the last of \
             its {copied} records; where --replicas was in force nothing that it has alone was acknowledged; delete the copy, or \
             keep it aside until the run is complete, and name another --run directory for a new one"
        ),
        LineBefore::Fits | LineBefore::Short => format!(
            "the coordinator's ledger has {has} records and this copy {copied}: the coordinator has lost records, or goes on \
             from an old folder; what was acknowledged may be in this copy alone: stop the coordinator and start diadem \
             coordinator --run on this copy; only if the copy is the one that is wrong, move it away"
        ),
        LineBefore::Differs => format!(
            "this copy and the coordinator's ledger have parted: the copy's {copied} records are not the first of the \
             coordinator's {has}; what was acknowledged may be in this copy alone: decide which one goes on (diadem verify tells \
             how much each has) and move the other one away"
        ),
    };
    Err(Status::failed_precondition(text))
}

/// Refuses a follower of another coordinator, or of a younger one.
fn check_term(source: &LedgerSource, met: Option<Term>) -> Result<(), Status> {
    let Some(met) = met.filter(|met| !source.term.follows(met)) else { return Ok(()) };
    Err(Status::failed_precondition(format!(
        "this is {}, but the follower has met {met}: follow that one; only if it is gone for good, and what it alone has on \
         record may be lost, start this coordinator again and say --take-over",
        source.term
    )))
}

fn unreadable(error: &LedgerError) -> Status {
    Status::unavailable(format!("the ledger cannot be read: {error}"))
}

/// Hears what the follower has on disk, until it ends the call.
async fn listen(following: Following, mut requests: Streaming<v1::FollowRequest>, sent: Arc<AtomicU64>) {
    while let Ok(Some(request)) = requests.message().await {
        // Nobody has what was not sent yet.
        if let Ok(request) = FollowRequest::try_from(request)
            && request.end.records <= sent.load(Ordering::Acquire)
        {
            following.has(request.end.records);
        }
    }
}

/// What the run is; a follower whose copy is refused hears that, too.
async fn run(source: &LedgerSource, is_refused: bool) -> Result<FollowedRun, Status> {
    let run_file = source.directory.path().join(RUN_FILE);
    let run_file =
        spawn_blocking(move || regular_file::read_to_string(&run_file)).await.map_err(|_| closing())?;
    let run_file =
        run_file.map_err(|error| Status::unavailable(format!("run.json cannot be read: {error}")))?;
    Ok(FollowedRun {
        run_file: run_file.into_bytes(),
        lease_key: source.key.bytes().to_vec(),
        term: source.term,
        refused: is_refused,
    })
}

fn closing() -> Status {
    Status::unavailable("the coordinator is closing")
}

/// Sends all there is, and what comes, until the coordinator ends.
async fn feed(
    handle: &Handle,
    source: LedgerSource,
    from: CopyEnd,
    replies: &Replies,
    sent: &AtomicU64,
) -> Result<(), Status> {
    let send = async |reply: FollowReply| replies.send(Ok(reply.into())).await.map_err(|_| closing());
    send(FollowReply::Run(run(&source, false).await?)).await?;
    let LedgerSource { directory, mut ends, .. } = source;
    let mut snapshots = handle.snapshots();
    let mut pieces = Pieces::new(directory.ledger(), from.file.max(1), from.offset);
    let mut is_told = false;
    loop {
        let end = ends.borrow_and_update().clone();
        sent.store(end.mark.records, Ordering::Release);
        loop {
            let until = end.clone();
            let read = spawn_blocking(move || (pieces.next(&until), pieces)).await;
            let (piece, rest) = read.map_err(|_| closing())?;
            pieces = rest;
            let Some(piece) = piece.map_err(|error| unreadable(&error))? else { break };
            send(FollowReply::Piece(piece)).await?;
        }
        let is_finished = {
            let snapshot = snapshots.borrow_and_update();
            if let Some(superseded) = &snapshot.superseded {
                return Err(Status::unavailable(superseded.clone()));
            }
            matches!(snapshot.ending, Some(Ending::Answered(_))) && *ends.borrow() == end
        };
        if is_finished && !is_told {
            send(FollowReply::Finished).await?;
            is_told = true;
        }
        tokio::select! {
            changed = ends.changed() => changed.map_err(|_| closing())?,
            changed = snapshots.changed() => changed.map_err(|_| closing())?,
        }
    }
}
