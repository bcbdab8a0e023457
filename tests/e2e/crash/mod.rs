//! Kills, damaged files and disks that fail: nothing acknowledged is lost.

mod checkpoint;
mod damage;
mod hanging_disk;
mod keys_half_made;
mod kill;
mod kills;
mod withheld;
