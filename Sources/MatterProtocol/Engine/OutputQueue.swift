/// A FIFO queue that does not move its elements.
struct OutputQueue<Output: Sendable>: Sendable {
  private var outputs: [Output?] = []
  private var head = 0
  private let keptCapacity: Int

  /// - Parameter keptCapacity: The maximum number of outputs for which an empty queue keeps its memory.
  init(keptCapacity: Int = .max) { self.keptCapacity = keptCapacity }

  mutating func append(_ output: Output) { outputs.append(output) }

  mutating func next() -> Output? {
    guard head < outputs.count else { return nil }
    defer {
      head += 1
      if head == outputs.count {
        outputs.removeAll(keepingCapacity: outputs.count <= keptCapacity)
        head = 0
      }
    }
    // Moved out, so that the receiver can change a datagram in place.
    return outputs[head].take()
  }
}
