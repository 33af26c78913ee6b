public import MatterModel
public import MatterProtocol

/// The subject of an operation, for access control. Matter Core § 6.6.2.
public struct Subject: Hashable, Sendable {
  /// How the subject was authenticated.
  public enum Kind: Hashable, Sendable {
    /// The device itself: a timer, a button, a start.
    case device
    /// A commissioner on a PASE session.
    case pase
    /// A node of a fabric.
    case `case`
    /// A group of a fabric.
    case group
  }

  public var kind: Kind
  /// The accessing fabric; `.none` for the device and for PASE before AddNOC.
  public var fabric: FabricIndex
  /// The node, or the group in its node-id form.
  public var node: NodeID
  /// The CASE authenticated tags of the node's certificate.
  public var tags: [CASEAuthenticatedTag]
  /// The session of the request; nil for the device.
  public var session: SessionID?

  public init(
    _ kind: Kind, fabric: FabricIndex = .none, node: NodeID = .unspecified, tags: [CASEAuthenticatedTag] = [],
    session: SessionID? = nil
  ) {
    (self.kind, self.fabric, self.node, self.tags, self.session) = (kind, fabric, node, tags, session)
  }

  /// The device itself.
  public static let device = Subject(.device)
  /// Whether the request was sent to a group, and therefore gets no response.
  public var isGroup: Bool { kind == .group }
}
