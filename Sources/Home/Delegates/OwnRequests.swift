internal import HomeModel
internal import MatterClusters
package import MatterModel
package import MatterProtocol
internal import MatterTLV

/// What a client asked of devices a moment ago, to tell what comes of it from what others do: the one it is not told, since
/// it has its answer from the call. See <doc:TheHomeModel>, “Delegates”. A value without I/O.
///
/// A device does not say why it reports what it reports. What is reported while a request of the client is under way, or
/// within two seconds after its answer, is taken for what came of it where it
///
/// - is an attribute that the client wrote, with the value that it wrote;
/// - is the attribute that its command says a value of, with this value: On and Off of OnOff, MoveToLevel of CurrentLevel,
///   where also what lies on the way there belongs to it, and the time that the way takes is added;
/// - is another attribute of the cluster and endpoint of its command, for the first time. On/Off, Level Control and Color
///   Control change each other and are one thing here, without their settings, which are only ever written; and to recall a
///   scene is to change anything.
///
/// Each request accounts for each value once, so that what somebody else makes of it afterwards is told. A call that failed
/// accounts for nothing: what was taken for its own while it was under way is told when it fails.
package struct OwnRequests: Sendable {
  /// A change of an attribute.
  package struct Change {
    package var device: String
    package var node: NodeID
    package var path: ConcreteAttributePath
    package var old: [UInt8]?
    package var new: [UInt8]?
  }

  private enum Value: Sendable {
    case exactly(TLVElement.Value?)
    /// Of CurrentLevel, on its way.
    case level(UInt8)
  }

  private struct Asked: Sendable {
    let number: Int
    let device: String
    let way: SourceID?
    /// What is known to come of it.
    var values: [ConcreteAttributePath: Value] = [:]
    /// Where anything may come of it.
    var area: Area?
    /// How long it takes until all has come of it that does.
    var time: Duration = .zero
    /// When nothing comes of it any more; nil: it is not answered.
    var end: Instant?
    /// Of which nothing more comes.
    var done: Set<ConcreteAttributePath> = []
    /// What came of it so far, as long as it is not answered.
    var came: [Change] = []
  }

  /// Clusters of an endpoint.
  private struct Area: Sendable {
    var endpoint: EndpointID
    /// Nil: all.
    var clusters: Set<ClusterID>?

    func contains(_ path: ConcreteAttributePath) -> Bool {
      guard path.endpoint == endpoint, let clusters else { return path.endpoint == endpoint }
      return clusters.contains(path.cluster) && OwnRequests.light[path.cluster]?.contains(path.attribute) ?? true
    }
  }

  private var asked: [Asked] = []
  private var lastNumber = 0
  /// How long after its answer a device may report what came of a request.
  package static let timeout: Duration = .seconds(2)

  // MARK: Asking

  /// A request begins.
  /// - Parameter way: whose endpoints it names; nil: those of the way that counts.
  /// - Returns: the number to end it by.
  package mutating func begin(_ command: CommandData, of device: String, by way: SourceID?) -> Int {
    add(device, way) { request in
      guard let endpoint = command.path.endpoint else { return }
      request.area = Area(endpoint: endpoint, clusters: Self.clusters(of: command.path))
      let value: (path: ConcreteAttributePath, value: Value)? = Self.value(command, on: endpoint, &request.time)
      if let value { request.values[value.path] = value.value }
    }
  }

  /// See ``begin(_:of:by:)``.
  package mutating func begin(_ writes: [AttributeWrite], of device: String, by way: SourceID?) -> Int {
    add(device, way) { request in
      for write in writes {
        guard let endpoint = write.path.endpoint, let cluster = write.path.cluster, let attribute = write.path.attribute
        else { continue }
        // What is added to a list is a part of what is reported.
        let isWhole = write.operation == .replaceAll
        let path = ConcreteAttributePath(endpoint, cluster, attribute)
        guard isWhole, request.values[path] == nil else {
          request.values[path] = .exactly(nil)
          continue
        }
        request.values[path] = .exactly(Self.meaning(write.value))
      }
    }
  }

  private mutating func add(_ device: String, _ way: SourceID?, _ fill: (inout Asked) -> Void) -> Int {
    lastNumber += 1
    var request = Asked(number: lastNumber, device: device, way: way)
    fill(&request)
    asked.append(request)
    return lastNumber
  }

  /// A request was answered.
  package mutating func end(_ number: Int, at now: Instant) {
    asked.removeAll { $0.end.map { $0 < now } ?? false }
    guard let index = asked.firstIndex(where: { $0.number == number }) else { return }
    asked[index].end = now + Self.timeout + asked[index].time
    asked[index].came = []
  }

  /// A request failed: the client has no answer, and is told what comes of it all the same.
  /// - Returns: what came of it already, in order.
  package mutating func forget(_ number: Int) -> [Change] {
    guard let index = asked.firstIndex(where: { $0.number == number }) else { return [] }
    return asked.remove(at: index).came
  }

  // MARK: What comes of it

  /// Whether a change came of a request of the client's own.
  package mutating func account(for change: Change, at now: Instant) -> Bool {
    guard !asked.isEmpty else { return false }
    asked.removeAll { $0.end.map { $0 < now } ?? false }
    for index in asked.indices where asked[index].device == change.device {
      guard account(for: change, index) else { continue }
      if asked[index].end == nil { asked[index].came.append(change) }
      return true
    }
    return false
  }

  private mutating func account(for change: Change, _ index: Int) -> Bool {
    // By another way than the one that counts now, endpoints have other numbers: the cluster has to do.
    var path = change.path
    if let way = asked[index].way, way.node != change.node {
      let places = asked[index].values.keys.map(\.endpoint) + [asked[index].area?.endpoint].compactMap { $0 }
      path.endpoint = places.first ?? path.endpoint
    }
    guard !asked[index].done.contains(path) else { return false }
    switch asked[index].values[path] {
    case .exactly(let value?)?:
      guard change.new.flatMap({ Self.meaning($0) }) == value else { return false }
      asked[index].done.insert(path)
    case .level(let target)?:
      guard let new = Self.level(change.new) else { return false }
      if new == target {
        asked[index].done.insert(path)
      } else {
        guard let old = Self.level(change.old), min(old, target) < new, new < max(old, target) else { return false }
      }
    case .exactly(nil)?: asked[index].done.insert(path)
    case nil:
      guard asked[index].area?.contains(path) == true else { return false }
      asked[index].done.insert(path)
    }
    return true
  }

  // MARK: What commands do

  /// What commands to a light change in it. All else of these clusters is a setting (OnLevel, StartUpOnOff, Options).
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

  /// The clusters of an endpoint that a command changes; nil: all.
  private static func clusters(of command: CommandPath) -> Set<ClusterID>? {
    if command.cluster == ScenesManagement.id, command.command == ScenesManagement.recallScene.id { return nil }
    return light[command.cluster] == nil ? [command.cluster] : Set(light.keys)
  }

  /// The attribute that a command says a value of.
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

  /// Without the width that a number was written in.
  private static func meaning(_ value: [UInt8]) -> TLVElement.Value? { (try? TLVElement(decoding: value))?.value }

  private static func level(_ value: [UInt8]?) -> UInt8? {
    value.flatMap { try? Nullable<UInt8>(tlv: $0) }?.wrapped
  }
}
