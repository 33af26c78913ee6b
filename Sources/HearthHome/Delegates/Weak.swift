/// A weak reference to a delegate or another object, for collections.
struct Weak<Object> {
  private weak var object: AnyObject?

  init(_ value: Object?) { object = value.map { $0 as AnyObject } }

  var value: Object? { object as? Object }
}
