use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc;
use std::thread;

fn main() {
    let (send, receive) = mpsc::channel::<Vec<String>>();
    let workers: Vec<_> = (0..4)
        .map(|n| {
            let send = send.clone();
            thread::spawn(move || {
                for i in 0..200 {
                    send.send((0..i).map(|k| format!("{}-{}", n, k)).collect()).unwrap();
                }
            })
        })
        .collect();
    drop(send);
    let mut count = BTreeMap::new();
    for text in receive.iter().flatten() {
        *count.entry(text).or_insert(0) += 1;
    }
    for worker in workers {
        worker.join().unwrap();
    }
    let lengths: HashMap<_, _> = count.iter().map(|(k, v)| (k.len(), v)).collect();
    println!("{} {} {}", count.len(), count.values().sum::<i32>(), lengths.len());
    std::process::exit(7);
}
