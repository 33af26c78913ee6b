public import MatterModel

/// Boolean State (0x0045). A binary state, such as an open contact.
/// Application Clusters § 1.7.
public enum BooleanState: Cluster {
  public static let id: ClusterID = 0x0045, revision: UInt16 = 1, name = "BooleanState"

  // MARK: Attributes

  public static let stateValue = Attribute<Self, Bool>(0x0000, "StateValue")

  // MARK: Events

  public static let stateChange = Event<Self, StateChangeEvent>(0x00, "StateChange", conformance: .optional)

  public static let elements: [any ClusterElement] = [stateValue, stateChange]

  // MARK: Fields of commands and events

  /// Application Clusters § 1.7.5.1.
  public struct StateChangeEvent: ModelStruct {
    public var stateValue: Bool = false
    public static let fields: [Field<Self>] = [.init(0, "StateValue", \.stateValue)]

    public init() {}

    public init(stateValue: Bool) { self.stateValue = stateValue }
  }
}
