internal import CAvahi

/// The memory of this process.
public enum HostMemory {
  /// Returns freed memory to the operating system. The C library keeps much of it otherwise.
  public static func releaseFreed() { hearth_release_freed_memory() }
}
