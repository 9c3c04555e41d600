//! A cache of answers with an expiry time.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of bytes that are kept. The oldest answer makes room for the next.
const MAX_BYTES: usize = 64 << 20;

/// Cached answers, by key, for all callers of the process. A key contains everything that the answer depends on, including
/// the addresses that the caller may reach.
#[derive(Default)]
pub(super) struct WebCache(Mutex<CacheEntries>);

#[derive(Default)]
struct CacheEntries {
    entries: HashMap<String, Entry>,
    order: VecDeque<String>,
    bytes: usize,
}

struct Entry {
    until: Instant,
    bytes: usize,
    value: Arc<dyn Any + Send + Sync>,
}

impl WebCache {
    /// Returns the answer under a key, if it has not expired.
    pub(super) fn get<T: Send + Sync + 'static>(&self, key: &str) -> Option<Arc<T>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = kept.entries.get(key).filter(|entry| entry.until > Instant::now())?;
        Arc::clone(&entry.value).downcast().ok()
    }

    /// Stores an answer of about this many bytes.
    pub(super) fn put<T: Send + Sync + 'static>(
        &self,
        key: String,
        value: Arc<T>,
        bytes: usize,
        keep: Duration,
    ) {
        if keep.is_zero() || bytes > MAX_BYTES / 2 {
            return;
        }
        let Some(until) = Instant::now().checked_add(keep) else { return };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = bytes + 2 * key.len();
        kept.bytes += bytes;
        match kept.entries.insert(key.clone(), Entry { until, bytes, value }) {
            Some(old) => kept.bytes -= old.bytes,
            None => kept.order.push_back(key),
        }
        while kept.bytes > MAX_BYTES {
            let Some(oldest) = kept.order.pop_front() else { break };
            if let Some(entry) = kept.entries.remove(&oldest) {
                kept.bytes -= entry.bytes;
            }
        }
    }
}

/// The cache of the process.
pub(super) fn shared() -> &'static WebCache {
    static SHARED: LazyLock<WebCache> = LazyLock::new(WebCache::default);
    &SHARED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_expire_and_make_room() {
        let cache = WebCache::default();
        let keep = Duration::from_mins(1);
        cache.put("none".to_owned(), Arc::new(1), 1, Duration::ZERO);
        assert_eq!(cache.get::<i32>("none"), None);
        cache.put("a".to_owned(), Arc::new(1), 1, keep);
        cache.put("a".to_owned(), Arc::new(2), 1, keep);
        assert_eq!(cache.get::<i32>("a").as_deref(), Some(&2));
        assert_eq!(cache.get::<String>("a"), None, "another type");
        for number in 0..4 {
            cache.put(format!("large {number}"), Arc::new(number), MAX_BYTES / 3, keep);
        }
        assert_eq!(cache.get::<i32>("a"), None);
        assert_eq!(cache.get::<i32>("large 3").as_deref(), Some(&3));
        let kept = cache.0.lock().unwrap();
        assert!(kept.bytes <= MAX_BYTES && kept.entries.len() == kept.order.len());
    }
}
