//! Sends a run to a follower: its description, its ledger from the end of the copy, and later additions.
//!
//! The ledger is read from disk, up to the last certain mark, independently of the keeper. Pieces are read when the
//! follower takes them, so a slow follower holds only two pieces.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use domain::{CopyEnd, FollowReply, FollowRequest, FollowedRun};
use proto::{malformed, v1};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

use super::refused::refused;
use crate::{Ending, Following, Handle, LedgerSource, Withheld};
use records::ledger::{CommitMark, LedgerError, LedgerPosition, LineBefore, LineHash, Pieces, line_before};
use records::regular_file;
use records::run_directory::run_file::RUN_FILE;

/// Time within which a follower must report the end of its copy.
const FIRST_REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Number of replies that wait for the follower.
const MAX_WAITING_REPLIES: usize = 2;

type Replies = mpsc::Sender<Result<v1::FollowReply, Status>>;

/// Answers a follower's call.
///
/// # Errors
/// There is no ledger, the copy differs from the ledger, or another coordinator serves the run.
pub async fn follow(
    handle: Handle,
    mut requests: Streaming<v1::FollowRequest>,
    seat: OwnedSemaphorePermit,
) -> Result<ReceiverStream<Result<v1::FollowReply, Status>>, Status> {
    let in_memory = || Status::failed_precondition("this run is in memory only and cannot be followed");
    let source = handle.source().cloned().ok_or_else(in_memory)?;
    let first = timeout(FIRST_REQUEST_TIMEOUT, requests.message()).await;
    let first = first.map_err(|_| {
        Status::deadline_exceeded(
            "the follower did not send the end of its \
                                                             copy",
        )
    })??;
    let first = first.ok_or_else(|| {
        Status::invalid_argument(
            "the follower did not send the end of its \
                                                              copy",
        )
    })?;
    let first = FollowRequest::try_from(first).map_err(|error| malformed(&error))?;
    if let Some(met) = first.met {
        handle.meet(met).await.map_err(refused)?;
    }
    if let Err(refusal) = compare(&source, &first).await {
        handle.turned_away(None, format!("refused a follower: {}", refusal.message())).await;
        return Err(refusal);
    }
    let following = handle.follow(first.follower, first.end.records).await.map_err(refused)?;
    let (replies, stream) = mpsc::channel(MAX_WAITING_REPLIES);
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

/// Refuses a copy that is not the beginning of the ledger.
async fn compare(source: &LedgerSource, first: &FollowRequest) -> Result<(), Status> {
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
    let before = before.map_err(|_| Status::internal("reading the ledger panicked"))?;
    let before = before.map_err(|error| unreadable(&error))?;
    let run = source.directory.run().hash();
    let is_of_this = first.met.is_none_or(|met| met.number == 0 || source.key.has_proven(run, &met));
    let text = match before {
        LineBefore::Fits if !is_beyond => return Ok(()),
        _ if !is_of_this => "this copy is of another run: choose another --run directory".to_owned(),
        LineBefore::Short if !is_beyond => {
            return Err(Status::unavailable("the coordinator's ledger is not where it was written"));
        }
        _ => format!(
            "the copy has {} records that are not the first of the coordinator's {}. If this coordinator \
             took the run over, move the copy away. If it started from an old run directory, stop it, \
             and run diadem coordinator --run DIR --take-over on the copy",
            copy.records, end.mark.records
        ),
    };
    Err(Status::failed_precondition(text))
}

fn unreadable(error: &LedgerError) -> Status {
    Status::unavailable(format!("cannot read the ledger: {error}"))
}

/// Receives the follower's positions until it ends the call.
async fn listen(following: Following, mut requests: Streaming<v1::FollowRequest>, sent: Arc<AtomicU64>) {
    while let Ok(Some(request)) = requests.message().await {
        // A follower cannot have records that were not sent yet.
        if let Ok(request) = FollowRequest::try_from(request)
            && request.end.records <= sent.load(Ordering::Acquire)
        {
            following.has(request.end.records);
        }
    }
}

/// The description of the run.
async fn run(source: &LedgerSource) -> Result<FollowedRun, Status> {
    let run_file = source.directory.path().join(RUN_FILE);
    let run_file =
        spawn_blocking(move || regular_file::read_to_string(&run_file)).await.map_err(|_| closing())?;
    let run_file = run_file.map_err(|error| Status::unavailable(format!("cannot read run.json: {error}")))?;
    Ok(FollowedRun {
        run_file: run_file.into_bytes(),
        lease_key: source.key.bytes().to_vec(),
        term: source.term,
    })
}

fn closing() -> Status {
    Status::unavailable("the coordinator is closing")
}

/// Sends the ledger and its additions until the coordinator ends.
async fn feed(
    handle: &Handle,
    source: LedgerSource,
    from: CopyEnd,
    replies: &Replies,
    sent: &AtomicU64,
) -> Result<(), Status> {
    let send = async |reply: FollowReply| replies.send(Ok(reply.into())).await.map_err(|_| closing());
    send(FollowReply::Run(run(&source).await?)).await?;
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
            if let Some(Ending::Withheld(Withheld::Other(other))) = &snapshot.ending {
                return Err(Status::unavailable(other.to_string()));
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
