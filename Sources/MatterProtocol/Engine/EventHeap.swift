/// A binary min-heap. Public and inlinable so that other modules specialize it for their elements in their inner loops.
public struct EventHeap<Element: Comparable & Sendable>: Sendable {
  @usableFromInline var elements: [Element] = []

  @inlinable public init() {}

  /// The smallest element, or nil if the heap is empty.
  @inlinable public var first: Element? { elements.first }
  /// Whether the heap has no elements.
  @inlinable public var isEmpty: Bool { elements.isEmpty }
  /// The number of elements.
  @inlinable public var count: Int { elements.count }

  /// Inserts an element in O(log n).
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

  /// Removes and returns the smallest element, or nil if the heap is empty. The order of equal elements is unspecified.
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

  /// Returns the elements that satisfy a condition, in no particular order, in time proportional to their number.
  /// - Parameter isIncluded: is true for each element that is less than another one for which it is true.
  @inlinable public func elements(where isIncluded: (Element) -> Bool) -> [Element] {
    var result: [Element] = []
    var open = [0]
    while let index = open.popLast() {
      guard index < elements.count, isIncluded(elements[index]) else { continue }
      result.append(elements[index])
      open.append(2 * index + 1)
      open.append(2 * index + 2)
    }
    return result
  }
}
