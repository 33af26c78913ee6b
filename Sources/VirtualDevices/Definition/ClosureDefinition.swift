import MatterClusters
import MatterDevice
import MatterModel

/// The key `closure`.
package struct ClosureDefinition: Hashable, Sendable {
  /// What a closure closes.
  package enum Use: String, CaseIterable, Sendable {
    case garageDoor = "garage door"
    case gate, door, barrier, awning, blind, shutter

    /// The tags of the standard namespaces “Closure” and “Closure Covering”.
    var tags: [SemanticTagStruct] {
      func tag(_ namespace: UInt8, _ tag: UInt8) -> SemanticTagStruct {
        SemanticTagStruct(mfgCode: .null, namespaceID: namespace, tag: tag)
      }
      return switch self {
      case .barrier: [tag(0x44, 2)]
      case .gate: [tag(0x44, 4)]
      case .garageDoor: [tag(0x44, 5)]
      case .door: [tag(0x44, 6)]
      case .blind: [tag(0x44, 0), tag(0x46, 0)]
      case .awning: [tag(0x44, 0), tag(0x46, 1)]
      case .shutter: [tag(0x44, 0), tag(0x46, 2)]
      }
    }
  }

  var use = Use.garageDoor
  var settings = ClosureSettings()
}
