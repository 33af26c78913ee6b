/// A type with a value that most instances have.
package protocol DefaultValued {
  /// The value that most instances have.
  static var defaultValue: Self { get }
  var isDefaultValue: Bool { get }
}

extension DefaultValued where Self: Equatable {
  @inlinable package var isDefaultValue: Bool { self == Self.defaultValue }
}

extension Optional: DefaultValued {
  @inlinable package static var defaultValue: Self { nil }
  @inlinable package var isDefaultValue: Bool { self == nil }
}

/// A large value that takes one word if it is the default one, and is otherwise shared by its copies.
@propertyWrapper package struct Boxed<Value: DefaultValued & Sendable>: Sendable {
  @usableFromInline final class Box: Sendable {
    @usableFromInline let value: Value
    @inlinable init(_ value: Value) { self.value = value }
  }

  /// Nil for the default value.
  @usableFromInline var box: Box?

  @inlinable package init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

  @inlinable package var wrappedValue: Value {
    // Inlined, because the unspecialized getter would look up the type of the box at run time.
    @inline(__always) get { box?.value ?? Value.defaultValue }
    set { box = newValue.isDefaultValue ? nil : Box(newValue) }
  }
}

extension Boxed: Equatable where Value: Equatable {
  package static func == (left: Self, right: Self) -> Bool {
    left.box === right.box || left.wrappedValue == right.wrappedValue
  }
}

extension Boxed: Hashable where Value: Hashable {
  package func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}
