public import Foundation
public import HomeModel
public import MatterProtocol

/// One change of a home in the log: an observer reads each exactly once, in order.
public struct HomeSample: Hashable, Sendable, Codable {
  /// The position after this sample.
  public var anchor: Anchor
  /// The ``startDate`` in microseconds since 1970.
  package var time: Int64
  /// The change of the home.
  public var change: HomeChange
  /// The device that the change is about, if any.
  public var device: String?
  /// The name of a removed device, room or structure, which is stored nowhere else.
  public var name: String?
  /// The client that made the change; nil: a device.
  public var origin: String?
  /// The number of the update, equal for all changes of one report, command or loss.
  public var update: Int64

  package init(
    anchor: Anchor, time: Int64, change: HomeChange, device: String?, name: String? = nil, origin: String?,
    update: Int64
  ) {
    (self.anchor, self.time, self.change) = (anchor, time, change)
    (self.device, self.name, self.origin, self.update) = (device, name, origin, update)
  }

  /// The time of the change.
  public var startDate: Date { Date(microseconds: time) }

  /// The ``startDate``: a change has no duration.
  public var endDate: Date { startDate }

  /// The id of the sample, which consists of the bytes of its ``anchor``.
  public var uuid: UUID {
    var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    withUnsafeMutableBytes(of: &bytes) {
      $0.storeBytes(of: anchor.log.bigEndian, as: UInt32.self)
      $0.storeBytes(of: (anchor.generation ?? 0).bigEndian, toByteOffset: 4, as: UInt32.self)
      $0.storeBytes(of: anchor.sequence.bigEndian, toByteOffset: 8, as: Int64.self)
    }
    return UUID(uuid: bytes)
  }

  /// The type of the sample; never `all`.
  public var sampleType: SampleType { change.sampleType }

  /// Whether the sample is a removal of an attribute, a device, a room or the like.
  public var isDeletion: Bool { change.isDeletion }

  /// The node of an attribute, event or source.
  public var node: NodeID? { change.source?.node }

  /// The attribute and its new value, for a sample of an attribute.
  public var attribute: (path: ConcreteAttributePath, value: [UInt8]?)? {
    if case .attribute(_, let path, let value) = change { (path, value) } else { nil }
  }

  /// The event, for a sample of an event.
  public var event: EventData? { if case .event(_, let data) = change { data } else { nil } }
}

/// The result of a query after an anchor.
public enum AnchoredResult: Sendable, Codable {
  /// The samples after the anchor.
  /// - Parameters:
  ///   - samples: the samples in order.
  ///   - next: the anchor for the next query.
  ///   - isComplete: whether these are all samples; else more follow after `next`.
  case samples([HomeSample], next: Anchor, isComplete: Bool)
  /// The log does not reach back to the anchor, or not as far as the anchor, or was restored from a copy and continued:
  /// use this home, and continue from its anchor.
  case reset(StoredHome)

  /// The samples of additions and changes.
  public var added: [HomeSample] {
    if case .samples(let samples, _, _) = self { samples.filter { !$0.isDeletion } } else { [] }
  }

  /// The samples of removals.
  public var deleted: [HomeSample] {
    if case .samples(let samples, _, _) = self { samples.filter(\.isDeletion) } else { [] }
  }

  /// The anchor for the next query.
  public var next: Anchor {
    switch self {
    case .samples(_, let next, _): next
    case .reset(let home): home.anchor
    }
  }
}

extension AnchoredResult {
  /// The result as seen through a route with this locality.
  package func seen(by locality: DataSourceLocality) -> AnchoredResult {
    switch self {
    case .samples(var samples, let next, let isComplete):
      for index in samples.indices { samples[index].change = samples[index].change.seen(by: locality) }
      return .samples(samples, next: next, isComplete: isComplete)
    case .reset(var home):
      home.state = home.state.seen(by: locality)
      return .reset(home)
    }
  }
}
