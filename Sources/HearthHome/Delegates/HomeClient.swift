package import MatterProtocol
internal import NIOCore
internal import Synchronization

/// The access of one client to a home: marks its edits with its id, and records its requests to devices.
package final class HomeClient: HomeAccess {
  package let id: String
  let backend: any HomeBackend
  private let requests = Mutex(OwnRequests())
  private let owner = Mutex(Weak<HomeManager>(nil))

  init(_ id: String, of backend: any HomeBackend) {
    self.id = id
    self.backend = backend
  }

  /// The manager of the client, which reports the actual result of a failed request to its delegates.
  var manager: HomeManager? {
    get { owner.withLock { $0.value } }
    set { owner.withLock { $0 = Weak(newValue) } }
  }

  /// Returns the rooms that satisfy a condition.
  func rooms(where isIncluded: (Room) -> Bool) -> [Room] {
    manager?.snapshot?.rooms.filter(isIncluded) ?? []
  }

  /// Returns the devices that satisfy a condition.
  func devices(where isIncluded: (HomeDevice) -> Bool) -> [HomeDevice] {
    manager?.snapshot?.devices(where: isIncluded) ?? []
  }

  package func invoke(
    _ command: CommandData, isTimed: Bool, of device: String, by source: SourceID?, timeout: Duration?
  ) async throws(HomeError) -> CommandData? {
    let number = requests.withLock { $0.begin(command, of: device, by: source) }
    return try await tracking(number) { () async throws(HomeError) in
      try await backend.invoke(command, isTimed: isTimed, of: device, by: source, timeout: timeout)
    }
  }

  package func write(
    _ writes: [AttributeWrite], isTimed: Bool, of device: String, by source: SourceID?, timeout: Duration?
  ) async throws(HomeError) {
    let number = requests.withLock { $0.begin(writes, of: device, by: source) }
    try await tracking(number) { () async throws(HomeError) in
      try await backend.write(writes, isTimed: isTimed, of: device, by: source, timeout: timeout)
    }
  }

  private func tracking<R>(
    _ number: Int, _ body: () async throws(HomeError) -> R
  ) async throws(HomeError) -> R {
    do throws(HomeError) {
      let result = try await body()
      let now = now
      requests.withLock { $0.end(number, at: now) }
      return result
    } catch {
      let changes = requests.withLock { $0.forget(number) }
      if !changes.isEmpty { manager?.publishDelayed(changes) }
      throw error
    }
  }

  private var now: Instant { Instant(nanoseconds: Int64(clamping: backend.eventLoop.now.uptimeNanoseconds)) }

  /// Returns whether a change results from a request of this client.
  package func accounts(for change: OwnRequests.Change) -> Bool {
    let now = now
    return requests.withLock { $0.account(for: change, at: now) }
  }

  package func edit(_ edits: [HomeEdit]) async throws(HomeError) -> [HomeEdit.Result] {
    try await backend.edit(edits, origin: id)
  }

  package func setName(_ name: String, of device: String) async throws(HomeError) -> HomeDevice {
    try await backend.setName(name, of: device, origin: id).asked(through: self)
  }

  package func reports(of device: String) -> DeviceReports {
    var reports = backend.reports(of: device)
    reports.access = self
    return reports
  }
}
