import Testing

@testable import MatterProtocol

@Test("a queue returns outputs in order, also while others are added", arguments: [0, 2, .max])
func ordersOutputs(keptCapacity: Int) {
  var queue = OutputQueue<Int>(keptCapacity: keptCapacity)
  var next = queue.next()
  #expect(next == nil)
  var taken: [Int] = []
  for number in 0..<4 {
    queue.append(2 * number)
    queue.append(2 * number + 1)
    next = queue.next()
    if let next { taken.append(next) }
  }
  while let next = queue.next() { taken.append(next) }
  #expect(taken == Array(0..<8))
  queue.append(8)
  next = queue.next()
  #expect(next == 8)
  next = queue.next()
  #expect(next == nil)
}
