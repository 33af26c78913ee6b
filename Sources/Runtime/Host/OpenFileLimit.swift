internal import Glibc

/// The limit on the files and sockets that this process may have open.
public enum OpenFileLimit {
  /// Raises the limit as far as the host permits it without privileges, if it is lower than a number.
  /// - Returns: The limit, or nil if there is none.
  @discardableResult public static func raise(to count: UInt64) -> UInt64? {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return nil }
    if limit.rlim_cur < rlim_t(count), limit.rlim_cur < limit.rlim_max {
      var raised = limit
      raised.rlim_cur = min(rlim_t(count), limit.rlim_max)
      if setrlimit(resource, &raised) == 0 { limit = raised }
    }
    return limit.rlim_cur == rlim_t.max ? nil : UInt64(limit.rlim_cur)
  }
}
