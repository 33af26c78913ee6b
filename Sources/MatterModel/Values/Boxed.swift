/// A type with a value that most instances have.
package protocol DefaultValued: Hashable {
  /// The value that most instances have.
  static var defaultValue: Self { get }
}

extension Optional: DefaultValued where Wrapped: Hashable {
  package static var defaultValue: Self { nil }
}

/// A large value that takes one word if it is the default one, and is otherwise shared by its copies.
@propertyWrapper package struct Boxed<Value: DefaultValued & Sendable>: Hashable, Sendable {
  private final class Box: Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
  }

  /// Nil for the default value.
  private var box: Box?

  package init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

  package var wrappedValue: Value {
    get { box?.value ?? Value.defaultValue }
    set { box = newValue == Value.defaultValue ? nil : Box(newValue) }
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.box === right.box || left.wrappedValue == right.wrappedValue
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}
