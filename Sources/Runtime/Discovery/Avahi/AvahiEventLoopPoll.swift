internal import CAvahi
internal import Glibc
internal import NIOCore

/// Runs libavahi-client on an event loop: its descriptors and its timeouts. Confined to that loop.
final class AvahiEventLoopPoll {
  private let eventLoop: any EventLoop
  /// The function table that the library calls; lives as long as this object.
  let api: UnsafeMutablePointer<AvahiPoll>
  private var watches: [ObjectIdentifier: Watch] = [:]
  private var timeouts: [ObjectIdentifier: Timeout] = [:]
  private var readiness: ReadinessWatch?
  private var isClosed = false

  /// A descriptor that the library watches.
  final class Watch {
    weak var poll: AvahiEventLoopPoll?
    let descriptor: CInt
    var wanted: Int16
    var happened: Int16 = 0
    var isFreed = false
    let call: (Watch) -> Void

    init(_ poll: AvahiEventLoopPoll, _ descriptor: CInt, _ wanted: Int16, _ call: @escaping (Watch) -> Void) {
      (self.poll, self.descriptor, self.wanted, self.call) = (poll, descriptor, wanted, call)
    }
  }

  /// A timer of the library.
  final class Timeout {
    weak var poll: AvahiEventLoopPoll?
    var scheduled: Scheduled<Void>?
    var isFreed = false
    let call: (Timeout) -> Void

    init(_ poll: AvahiEventLoopPoll, _ call: @escaping (Timeout) -> Void) { (self.poll, self.call) = (poll, call) }
  }

  init(on eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
    api = .allocate(capacity: 1)
    api.initialize(to: AvahiPoll())
    api.pointee.userdata = Unmanaged.passUnretained(self).toOpaque()
    setFunctions()
    readiness = ReadinessWatch(on: eventLoop) { [weak self] in self?.dispatch() }
  }

  deinit {
    api.deinitialize(count: 1)
    api.deallocate()
  }

  /// Closes the poll. To be called after all clients are freed.
  func close() {
    isClosed = true
    readiness?.close()
    for timeout in timeouts.values { timeout.scheduled?.cancel() }
    timeouts = [:]
    watches = [:]
  }

  /// Calls the library for each ready descriptor.
  private func dispatch() {
    for watch in watches.values.sorted(by: { $0.descriptor < $1.descriptor }) where !watch.isFreed {
      watch.happened = hearth_ready(watch.descriptor, watch.wanted)
      if watch.happened != 0 { watch.call(watch) }
      watch.happened = 0
    }
    readiness?.arm()
  }

  // MARK: - The library's requests

  private func add(_ watch: Watch) {
    watches[ObjectIdentifier(watch)] = watch
    follow(watch.descriptor)
  }

  /// Merges the events of all watches of a descriptor: the library may have several (reading, writing), the kernel
  /// takes one.
  private func follow(_ descriptor: CInt) {
    let wanted = watches.values.filter { $0.descriptor == descriptor && !$0.isFreed }.reduce(Int16(0)) {
      $0 | $1.wanted
    }
    if wanted == 0 { readiness?.forget(descriptor) } else { readiness?.watch(descriptor, for: wanted) }
  }

  private func remove(_ watch: Watch) {
    watch.isFreed = true
    watches[ObjectIdentifier(watch)] = nil
    follow(watch.descriptor)
  }

  private func set(_ timeout: Timeout, at time: timeval?) {
    timeout.scheduled?.cancel()
    timeout.scheduled = nil
    guard let time, !isClosed, !timeout.isFreed else { return }
    // The library's times are wall-clock times.
    let wait = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_usec) - HostClock.unixMicroseconds()
    let delay = TimeAmount.microseconds(min(max(0, wait), 3_600_000_000))
    timeout.scheduled = eventLoop.assumeIsolated().scheduleTask(in: delay) { [weak timeout] in
      guard let timeout, !timeout.isFreed else { return }
      timeout.scheduled = nil
      timeout.call(timeout)
    }
  }

  private func setFunctions() {
    api.pointee.watch_new = { api, descriptor, events, callback, data in
      guard let poll = AvahiEventLoopPoll.of(api), let callback else { return nil }
      let watch = Watch(poll, descriptor, Int16(truncatingIfNeeded: events.rawValue)) { watch in
        callback(
          watch.pointer, watch.descriptor, AvahiWatchEvent(UInt32(UInt16(bitPattern: watch.happened))), data)
      }
      poll.add(watch)
      return watch.pointer
    }
    api.pointee.watch_update = { pointer, events in
      guard let watch = Watch.at(pointer) else { return }
      watch.wanted = Int16(truncatingIfNeeded: events.rawValue)
      watch.poll?.follow(watch.descriptor)
    }
    api.pointee.watch_get_events = { pointer in
      AvahiWatchEvent(UInt32(UInt16(bitPattern: Watch.at(pointer)?.happened ?? 0)))
    }
    api.pointee.watch_free = { pointer in
      guard let watch = Watch.at(pointer) else { return }
      watch.poll?.remove(watch)
    }
    api.pointee.timeout_new = { api, time, callback, data in
      guard let poll = AvahiEventLoopPoll.of(api), let callback else { return nil }
      let timeout = Timeout(poll) { timeout in callback(timeout.pointer, data) }
      poll.timeouts[ObjectIdentifier(timeout)] = timeout
      poll.set(timeout, at: time?.pointee)
      return timeout.pointer
    }
    api.pointee.timeout_update = { pointer, time in
      guard let timeout = Timeout.at(pointer) else { return }
      timeout.poll?.set(timeout, at: time?.pointee)
    }
    api.pointee.timeout_free = { pointer in
      guard let timeout = Timeout.at(pointer) else { return }
      timeout.isFreed = true
      timeout.scheduled?.cancel()
      timeout.poll?.timeouts[ObjectIdentifier(timeout)] = nil
    }
  }

  private static func of(_ api: UnsafePointer<AvahiPoll>?) -> AvahiEventLoopPoll? {
    guard let data = api?.pointee.userdata else { return nil }
    return Unmanaged<AvahiEventLoopPoll>.fromOpaque(data).takeUnretainedValue()
  }
}

// The library holds pointers to objects that the tables above keep alive.

extension AvahiEventLoopPoll.Watch {
  fileprivate var pointer: OpaquePointer { OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }
  fileprivate static func at(_ pointer: OpaquePointer?) -> AvahiEventLoopPoll.Watch? {
    pointer.map { Unmanaged.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
  }
}

extension AvahiEventLoopPoll.Timeout {
  fileprivate var pointer: OpaquePointer { OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }
  fileprivate static func at(_ pointer: OpaquePointer?) -> AvahiEventLoopPoll.Timeout? {
    pointer.map { Unmanaged.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
  }
}
