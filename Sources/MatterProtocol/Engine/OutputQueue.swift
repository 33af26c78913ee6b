/// A FIFO queue that does not move its elements. Public and inlinable so that other modules specialize it for their
/// outputs: the functions of a package are not specialized.
public struct OutputQueue<Output: Sendable>: Sendable {
  /// The outputs from `head` to `tail`; the other slots are free.
  @usableFromInline var slots: [Output?] = []
  @usableFromInline var head = 0
  @usableFromInline var tail = 0
  @usableFromInline let keptCapacity: Int

  /// - Parameter keptCapacity: The maximum number of outputs for which an empty queue keeps its memory.
  @inlinable public init(keptCapacity: Int = .max) { self.keptCapacity = keptCapacity }

  /// Adds an output at the end.
  @inlinable public mutating func append(_ output: consuming Output) {
    if tail < slots.count { slots[tail] = output } else { slots.append(output) }
    tail += 1
  }

  /// Removes and returns the first output, or nil if the queue is empty.
  @inlinable public mutating func next() -> Output? {
    guard head < tail else { return nil }
    // Moved out, so that the receiver can change a datagram in place.
    let output = slots[head].take()
    head += 1
    if head == tail {
      (head, tail) = (0, 0)
      if slots.count > keptCapacity { slots = [] }
    }
    return output
  }

  /// Returns all outputs, and removes them.
  @inlinable public mutating func takeAll() -> [Output] {
    var outputs: [Output] = []
    while let output = next() { outputs.append(output) }
    return outputs
  }
}
