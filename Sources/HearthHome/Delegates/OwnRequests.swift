internal import MatterClusters
package import MatterProtocol
internal import MatterTLV

/// The recent requests of a client to devices. Attributes that change because of them are not reported to the client,
/// which has the results of the calls. See <doc:TheHomeModel>, “Delegates”. A value without I/O.
///
/// A report does not contain its cause. A change during a request of the client, or within two seconds after the
/// answer, is attributed to the request if the attribute
///
/// - was written by the request, and has the written value;
/// - has the value that the command implies: On and Off of OnOff, MoveToLevel of CurrentLevel, including values during
///   the transition, whose time is added;
/// - is another attribute of the cluster and endpoint of the command, and changes for the first time. On/Off, Level
///   Control and Color Control affect each other and count as one cluster, without their settings, which change only by
///   writes; RecallScene affects all clusters.
///
/// Each value is attributed to a request only once, so that a later change by another client is reported. Changes
/// attributed to a request that fails are reported when it fails.
package struct OwnRequests: Sendable {
  package struct Change {
    package var device: String
    package var node: NodeID
    package var path: ConcreteAttributePath
    package var old: [UInt8]?
    package var new: [UInt8]?
  }

  private enum Value: Sendable {
    case exactly(TLVElement.Value?)
    /// A level, including values during the transition to it.
    case level(UInt8)
  }

  private struct Request: Sendable {
    let number: Int
    let device: String
    let source: SourceID?
    /// The values that the request causes.
    var values: [ConcreteAttributePath: Value] = [:]
    /// The clusters that the request may affect.
    var area: Area?
    var time: Duration = .zero
    /// The end of the attribution; nil: the request is not answered.
    var end: Instant?
    /// The attributes whose changes were attributed.
    var completed: Set<ConcreteAttributePath> = []
    /// The attributed changes until the answer.
    var attributed: [Change] = []
  }

  /// Clusters of an endpoint.
  private struct Area: Sendable {
    var endpoint: EndpointID
    /// Nil: all clusters.
    var clusters: Set<ClusterID>?

    func contains(_ path: ConcreteAttributePath) -> Bool {
      guard path.endpoint == endpoint, let clusters else { return path.endpoint == endpoint }
      return clusters.contains(path.cluster) && OwnRequests.light[path.cluster]?.contains(path.attribute) ?? true
    }
  }

  private var requests: [Request] = []
  private var lastNumber = 0
  /// The time after the answer in which changes are attributed to a request.
  package static let timeout: Duration = .seconds(2)

  // MARK: Requests

  /// Begins a request.
  /// - Parameter source: the source that the endpoints belong to; nil: the active source.
  /// - Returns: the number for ``end(_:at:)`` and ``forget(_:)``.
  package mutating func begin(_ command: CommandData, of device: String, by source: SourceID?) -> Int {
    add(device, source) { request in
      guard let endpoint = command.path.endpoint else { return }
      request.area = Area(endpoint: endpoint, clusters: Self.clusters(of: command.path))
      let value: (path: ConcreteAttributePath, value: Value)? = Self.value(command, on: endpoint, &request.time)
      if let value { request.values[value.path] = value.value }
    }
  }

  /// See ``begin(_:of:by:)``.
  package mutating func begin(_ writes: [AttributeWrite], of device: String, by source: SourceID?) -> Int {
    add(device, source) { request in
      for write in writes {
        guard let endpoint = write.path.endpoint, let cluster = write.path.cluster, let attribute = write.path.attribute
        else { continue }
        // The reported value of a list contains more than the appended entry.
        let isWhole = write.operation == .replaceAll
        let path = ConcreteAttributePath(endpoint, cluster, attribute)
        let isCertain = isWhole && request.values[path] == nil
        request.values[path] = .exactly(isCertain ? Self.decoded(write.value) : nil)
      }
    }
  }

  private mutating func add(_ device: String, _ source: SourceID?, _ fill: (inout Request) -> Void) -> Int {
    lastNumber += 1
    var request = Request(number: lastNumber, device: device, source: source)
    fill(&request)
    requests.append(request)
    return lastNumber
  }

  /// Ends a request that was answered.
  package mutating func end(_ number: Int, at now: Instant) {
    requests.removeAll { $0.end.map { $0 < now } ?? false }
    guard let index = requests.firstIndex(where: { $0.number == number }) else { return }
    requests[index].end = now + Self.timeout + requests[index].time
    requests[index].attributed = []
  }

  /// Ends a request that failed, whose effects are reported to the client.
  /// - Returns: the changes attributed to it, in order.
  package mutating func forget(_ number: Int) -> [Change] {
    guard let index = requests.firstIndex(where: { $0.number == number }) else { return [] }
    return requests.remove(at: index).attributed
  }

  // MARK: Attribution

  /// Attributes a change to a request of the client. Returns false if no request caused it.
  package mutating func account(for change: Change, at now: Instant) -> Bool {
    guard !requests.isEmpty else { return false }
    requests.removeAll { $0.end.map { $0 < now } ?? false }
    for index in requests.indices where requests[index].device == change.device {
      guard account(for: change, index) else { continue }
      if requests[index].end == nil { requests[index].attributed.append(change) }
      return true
    }
    return false
  }

  private mutating func account(for change: Change, _ index: Int) -> Bool {
    // The endpoints of another source have other numbers, so only the cluster is compared.
    var path = change.path
    if let source = requests[index].source, source.node != change.node {
      let endpoints = requests[index].values.keys.map(\.endpoint) + [requests[index].area?.endpoint].compactMap { $0 }
      path.endpoint = endpoints.first ?? path.endpoint
    }
    guard !requests[index].completed.contains(path) else { return false }
    switch requests[index].values[path] {
    case .exactly(let value?)?:
      guard change.new.flatMap({ Self.decoded($0) }) == value else { return false }
      requests[index].completed.insert(path)
    case .level(let target)?:
      guard let new = Self.level(change.new) else { return false }
      if new == target {
        requests[index].completed.insert(path)
      } else {
        guard let old = Self.level(change.old), min(old, target) < new, new < max(old, target) else { return false }
      }
    case .exactly(nil)?: requests[index].completed.insert(path)
    case nil:
      guard requests[index].area?.contains(path) == true else { return false }
      requests[index].completed.insert(path)
    }
    return true
  }

  // MARK: Effects of commands

  /// The attributes that commands to a light affect. The others are settings (OnLevel, StartUpOnOff, Options).
  private static let light: [ClusterID: Set<AttributeID>] = [
    OnOff.id: [OnOff.onOff.id, OnOff.globalSceneControl.id, OnOff.onTime.id, OnOff.offWaitTime.id],
    LevelControl.id: [LevelControl.currentLevel.id, LevelControl.remainingTime.id, LevelControl.currentFrequency.id],
    ColorControl.id: [
      ColorControl.currentHue.id, ColorControl.currentSaturation.id, ColorControl.remainingTime.id,
      ColorControl.currentX.id, ColorControl.currentY.id, ColorControl.colorTemperatureMireds.id,
      ColorControl.colorMode.id, ColorControl.enhancedCurrentHue.id, ColorControl.enhancedColorMode.id,
      ColorControl.colorLoopActive.id, ColorControl.colorLoopDirection.id, ColorControl.colorLoopTime.id,
      ColorControl.colorLoopStartEnhancedHue.id, ColorControl.colorLoopStoredEnhancedHue.id,
    ],
  ]

  /// The clusters of an endpoint that a command affects; nil: all.
  private static func clusters(of command: CommandPath) -> Set<ClusterID>? {
    if command.cluster == ScenesManagement.id, command.command == ScenesManagement.recallScene.id { return nil }
    return light[command.cluster] == nil ? [command.cluster] : Set(light.keys)
  }

  /// The attribute whose value the command implies.
  private static func value(
    _ command: CommandData, on endpoint: EndpointID, _ time: inout Duration
  ) -> (path: ConcreteAttributePath, value: Value)? {
    switch (command.path.cluster, command.path.command) {
    case (OnOff.id, OnOff.on.id), (OnOff.id, OnOff.onWithRecallGlobalScene.id), (OnOff.id, OnOff.onWithTimedOff.id):
      return (OnOff.onOff.path(on: endpoint), .exactly(.boolean(true)))
    case (OnOff.id, OnOff.off.id), (OnOff.id, OnOff.offWithEffect.id):
      return (OnOff.onOff.path(on: endpoint), .exactly(.boolean(false)))
    case (LevelControl.id, LevelControl.moveToLevel.id), (LevelControl.id, LevelControl.moveToLevelWithOnOff.id):
      guard let fields = command.fields.flatMap({ try? LevelControl.MoveToLevelRequest(tlv: $0) }) else { return nil }
      time = .milliseconds(100 * Int(fields.transitionTime.wrapped ?? 0))
      return (LevelControl.currentLevel.path(on: endpoint), .level(fields.level))
    default: return nil
    }
  }

  /// Decodes a value, so that the encoded width of a number is not compared.
  private static func decoded(_ value: [UInt8]) -> TLVElement.Value? { (try? TLVElement(decoding: value))?.value }

  private static func level(_ value: [UInt8]?) -> UInt8? {
    value.flatMap { try? Nullable<UInt8>(tlv: $0) }?.wrapped
  }
}
