/// A binary heap: the least element comes first. Public and inlinable so that those who use it, deep in their loops, get one
/// compiled for their own elements.
public struct EventHeap<Element: Comparable & Sendable>: Sendable {
  @usableFromInline var elements: [Element] = []

  @inlinable public init() {}

  /// The least element, nil if there is none. It stays.
  @inlinable public var first: Element? { elements.first }
  /// Whether nothing is in it.
  @inlinable public var isEmpty: Bool { elements.isEmpty }

  /// Puts an element in its place, in as many steps as the number of elements has binary digits at most.
  @inlinable public mutating func insert(_ element: Element) {
    elements.append(element)
    var child = elements.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard elements[child] < elements[parent] else { return }
      elements.swapAt(child, parent)
      child = parent
    }
  }

  /// Takes the least element out; of equal ones any. Nil if there is none.
  @inlinable public mutating func removeFirst() -> Element? {
    guard !elements.isEmpty else { return nil }
    elements.swapAt(0, elements.count - 1)
    let least = elements.removeLast()
    var parent = 0
    while true {
      var smallest = parent
      let left = 2 * parent + 1
      if left < elements.count && elements[left] < elements[smallest] { smallest = left }
      if left + 1 < elements.count && elements[left + 1] < elements[smallest] { smallest = left + 1 }
      guard smallest != parent else { return least }
      elements.swapAt(parent, smallest)
      parent = smallest
    }
  }
}
