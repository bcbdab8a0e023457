//! All addresses asked at once, before one of them is chosen.

use std::future::Future;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::places::Client;
use crate::remote::Remote;

/// An address that has not answered is not waited for any longer.
const SILENCE: Duration = Duration::from_secs(3);

impl Remote {
    /// What is made of the answers of those that answer in time, in the order of the addresses.
    pub(crate) async fn ask_each<T, F>(&self, ask: impl Fn(usize, Client) -> F) -> Vec<T>
    where
        T: Send + 'static,
        F: Future<Output = Option<T>> + Send + 'static,
    {
        let mut asked = JoinSet::new();
        for site in 0..self.addresses() {
            let answer = ask(site, self.client(site));
            asked.spawn(async move { Some((site, timeout(SILENCE, answer).await.ok()??)) });
        }
        let mut told: Vec<(usize, T)> = asked.join_all().await.into_iter().flatten().collect();
        told.sort_by_key(|(site, _)| *site);
        told.into_iter().map(|(_, told)| told).collect()
    }
}
