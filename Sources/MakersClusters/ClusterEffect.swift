package import MatterModel

/// An effect of a command of a manufacturer's cluster.
package enum ClusterEffect: Sendable {
  case set(AttributeID, EffectValue)
  case toggle(AttributeID)
  /// Adds a number, within the range of the attribute.
  case add(AttributeID, EffectValue)
  /// Changes a number to a value, over a time in the given unit.
  case transition(AttributeID, EffectValue, over: EffectValue, unit: Duration)
  case emit(EventInfo, [UInt8: EffectValue])
  /// Answers with the fields of the response command.
  case answer([UInt8: EffectValue])
}

/// A value in an effect.
package enum EffectValue: Sendable {
  case constant(TLVElement.Value)
  /// A field of the command.
  case field(UInt8)
  /// An attribute of the cluster.
  case attribute(AttributeID)
}
