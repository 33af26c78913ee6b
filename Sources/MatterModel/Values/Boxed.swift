/// A type with a value that most instances have.
public protocol DefaultValued {
  /// The value that most instances have.
  static var defaultValue: Self { get }
  /// Whether the value is the default one.
  var isDefaultValue: Bool { get }
}

extension DefaultValued where Self: Equatable {
  @inlinable public var isDefaultValue: Bool { self == Self.defaultValue }
}

extension Optional: DefaultValued {
  @inlinable public static var defaultValue: Self { nil }
  @inlinable public var isDefaultValue: Bool { self == nil }
}

/// A large value that takes one word if it is the default one, and is otherwise shared by its copies.
///
/// Public and inlinable: the unspecialized getter would look up the type of the value at run time, and the compiler
/// doesn't inline generic code with package access.
@propertyWrapper public struct Boxed<Value: DefaultValued & Sendable>: Sendable {
  @usableFromInline final class Box: Sendable {
    @usableFromInline let value: Value
    @inlinable init(_ value: Value) { self.value = value }
  }

  /// Nil for the default value.
  @usableFromInline var box: Box?

  /// Boxes a value, unless it is the default one.
  @inlinable public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

  /// The boxed or default value. Setting it leaves the copies unchanged.
  @inlinable public var wrappedValue: Value {
    @inline(__always) get { box?.value ?? Value.defaultValue }
    set { box = newValue.isDefaultValue ? nil : Box(newValue) }
  }
}

extension Boxed: Equatable where Value: Equatable {
  public static func == (left: Self, right: Self) -> Bool {
    left.box === right.box || left.wrappedValue == right.wrappedValue
  }
}

extension Boxed: Hashable where Value: Hashable {
  public func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}
