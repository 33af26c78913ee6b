/// An arithmetic expression of numbers and attributes of other devices. A value type that reads the attributes through a
/// closure.
///
///     expression.value { operand in temperatures[operand.device] }
package struct AttributeExpression: Hashable, Sendable {
  /// The steps in postfix order.
  let steps: [Step]

  enum Step: Hashable, Sendable {
    case number(Double)
    case attribute(Operand)
    /// An operation on the results of the last two steps.
    case operation(Operation)
  }

  enum Operation: Hashable, Sendable { case sum, difference, product, quotient, minimum, maximum }

  /// An attribute of a device of the home.
  package struct Operand: Hashable, Sendable {
    /// The path or the name of the device, as in the file.
    var device: String
    var attribute: InitialValue
    /// The position of the device's name.
    var mark: SourceMark

    /// `kitchen/lamp.1.onOff.onOff`.
    var text: String { "\(device).\(attribute.path)" }
  }

  var operands: [Operand] { steps.compactMap { if case .attribute(let operand) = $0 { operand } else { nil } } }

  /// Returns the value; nil if an attribute is null or unknown, or the result is not a finite number.
  func value(_ sample: (Operand) -> Double?) -> Double? {
    var stack: [Double] = []
    for step in steps {
      switch step {
      case .number(let number): stack.append(number)
      case .attribute(let operand):
        guard let number = sample(operand) else { return nil }
        stack.append(number)
      case .operation(let operation):
        guard let right = stack.popLast(), let left = stack.popLast() else { return nil }
        let result = operation.result(left, right)
        guard result.isFinite else { return nil }
        stack.append(result)
      }
    }
    return stack.last.flatMap { $0.isFinite ? $0 : nil }
  }
}

extension AttributeExpression.Operation {
  fileprivate func result(_ left: Double, _ right: Double) -> Double {
    switch self {
    case .sum: left + right
    case .difference: left - right
    case .product: left * right
    case .quotient: left / right
    case .minimum: min(left, right)
    case .maximum: max(left, right)
    }
  }
}

extension Behavior.Course {
  fileprivate var expression: AttributeExpression? {
    if case .expression(let expression, _, _) = self { expression } else { nil }
  }
}

extension DeviceDefinition {
  /// The expressions that the device follows, with the attributes; nil for the water that is drawn from a tank.
  var expressions: [(attribute: InitialValue?, expression: AttributeExpression)] {
    behaviors.compactMap { behavior in behavior.course.expression.map { (behavior.attribute, $0) } }
      + (climate.draw?.expression.map { [(nil, $0)] } ?? [])
  }
}
