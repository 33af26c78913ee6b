/// Returns a copy of a value after a change of the copy.
package func modified<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
  var copy = value
  change(&copy)
  return copy
}
