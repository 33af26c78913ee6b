public import MatterController
public import MatterModel
public import MatterProtocol
internal import Runtime
internal import Synchronization

/// A home that is open: its names, the controller that talks to its devices, and what they said last.
///
/// As long as the full tracking of connectivity is not there, a device is online or offline by what just happened.
public final class HomeSession: Sendable {
  public let registry: HomeRegistry
  public let controller: HomeController
  private let last: Mutex<LastValues>
  /// Whether what was heard will be written within a second.
  private let isSaving = Mutex(false)

  /// Opens a home. To be ended with ``close()``.
  public init(_ options: HomeController.Options) async throws(HomeError) {
    registry = try HomeStore(options.state).load()
    last = Mutex(LastValues(options.state))
    controller = try await HomeController.open(options)
  }

  public func close() async {
    await controller.close()
    last.withLock { $0.save() }
  }

  // MARK: What was heard last

  /// What was heard from a device last.
  public func lastHeard(_ node: NodeID) -> LastValues.Device { last.withLock { $0[node] } }

  /// The wall clock in milliseconds since 1970.
  public static func now() -> Int64 { HostClock.unixMicroseconds() / 1000 }

  /// Notes that a device answered, and what.
  func heard(from node: NodeID, _ attributes: [AttributeData] = []) {
    let now = Self.now()
    last.withLock {
      var device = $0[node]
      device.lastContact = now
      device.isOnline = true
      device.reason = nil
      for attribute in attributes where DeviceState.isPart(attribute.path) {
        device.values[attribute.path] = attribute.value
      }
      $0[node] = device
    }
  }

  func missed(_ node: NodeID, _ error: HomeError) {
    guard let reason = error.offlineReason else {
      // A device that refuses is there.
      if error.code == .refused || error.code == .accessDenied { heard(from: node) }
      return
    }
    last.withLock {
      var device = $0[node]
      device.isOnline = false
      device.reason = reason
      $0[node] = device
    }
  }

  /// For whoever goes on for long: has what was heard written within a second, which is all that a kill can take.
  private func saveSoon() {
    let isFirst = isSaving.withLock { isSaving in
      defer { isSaving = true }
      return !isSaving
    }
    guard isFirst else { return }
    Task {
      try? await Task.sleep(for: .seconds(1))
      isSaving.withLock { $0 = false }
      last.withLock { $0.save() }
    }
  }

  func forget(_ node: NodeID) { last.withLock { $0.forget(node) } }

  /// Does something with a device, notes whether it was there, and names it in an error.
  func with<R: Sendable>(
    _ device: DeviceRecord, _ body: () async throws(HomeError) -> R
  ) async throws(HomeError) -> R {
    do throws(HomeError) {
      let result = try await body()
      heard(from: device.nodeID)
      return result
    } catch {
      missed(device.nodeID, error)
      throw error.about(device.name)
    }
  }

  // MARK: Requests

  /// Reads attributes of a device.
  public func read(
    _ device: DeviceRecord, _ paths: [AttributePath], isFabricFiltered: Bool = true, timeout: Duration? = nil
  ) async throws(HomeError) -> ReassembledReport {
    let report = try await with(device) { () async throws(HomeError) in
      try await controller.read(device.nodeID, paths, isFabricFiltered: isFabricFiltered, timeout: timeout)
    }
    heard(from: device.nodeID, report.attributes)
    return report
  }

  /// Writes attributes of a device.
  /// - Throws: what the device said of the first write that it refused.
  public func write(_ device: DeviceRecord, _ writes: [AttributeWrite], isTimed: Bool) async throws(HomeError) {
    try await with(device) { () async throws(HomeError) in
      for status in try await controller.write(device.nodeID, writes, isTimed: isTimed)
      where status.status.code != .success {
        throw HomeError(status.status)
      }
    }
  }

  /// Invokes a command of a device.
  /// - Throws: also where the answer is a response of the command's own that says that it failed.
  public func invoke(
    _ device: DeviceRecord, _ command: CommandData, isTimed: Bool
  ) async throws(HomeError) -> CommandData? {
    try await with(device) { () async throws(HomeError) in
      let answer = try await controller.invoke(device.nodeID, command, isTimed: isTimed)
      if let answer, let failure = CommandOutcome.failure(answer) { throw failure }
      return answer
    }
  }

  /// Subscribes to a device; what comes is noted.
  public func subscribe(
    _ device: DeviceRecord, _ request: SubscriptionRequest
  ) -> AsyncThrowingStream<SubscriptionNews, any Error> {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: SubscriptionNews.self)
    let task = Task {
      do {
        for try await news in await controller.subscribe(device.nodeID, request) {
          switch news {
          case .attribute(let path, let value):
            heard(from: device.nodeID, [AttributeData(path, dataVersion: 0, value: value)])
          case .lost(let error, _):
            missed(device.nodeID, error)
            last.withLock { $0.save() }
          case .reportEnd:
            heard(from: device.nodeID)
            saveSoon()
          case .established, .event, .status: heard(from: device.nodeID)
          }
          continuation.yield(news)
        }
        continuation.finish()
      } catch {
        let error = HomeError(error)
        missed(device.nodeID, error)
        continuation.finish(throwing: error.about(device.name))
      }
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }
}
