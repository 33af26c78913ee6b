import Foundation
import Glibc

/// The processor time so far, including system time, in nanoseconds.
/// - Parameter ofThread: whether that of the calling thread rather than of all threads.
func processorTime(ofThread: Bool = false) -> Double {
  var usage = rusage()
  getrusage(ofThread ? 1 : __rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  func nanoseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1e9 + Double(time.tv_usec) * 1e3 }
  return nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime)
}

/// The resident memory of a process, in bytes.
func residentBytes(of process: String = "self") -> Int {
  let text = (try? String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8)) ?? ""
  let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  return pages * Int(getpagesize())
}
