import CBench

/// The assignment of the two ends of a measurement to CPUs. By default the kernel keeps the threads of the blocking
/// echo on one CPU, and separates threads that compute before they answer. Each message then has to wake a sleeping
/// CPU, which takes several times as long as everything else. Only measurements with the same placement are
/// comparable.
enum Placement: CaseIterable {
  case oneCPU, twoCPUs, unpinned

  var name: String {
    switch self {
    case .oneCPU: "both ends on one CPU"
    case .twoCPUs: "each end on a CPU of its own"
    case .unpinned: "left to the scheduler"
    }
  }

  /// The placements that this machine supports.
  static var possible: [Placement] {
    allCases.filter { placement in
      switch placement {
      case .oneCPU: hearth_allowed_cpu(0) >= 0
      case .twoCPUs: hearth_allowed_cpu(1) >= 0
      case .unpinned: true
      }
    }
  }

  /// Pins threads, given by their system IDs.
  func place(clients: [Int32], servers: [Int32]) throws {
    let (client, server): (Int32, Int32) =
      switch self {
      case .oneCPU: (hearth_allowed_cpu(0), hearth_allowed_cpu(0))
      case .twoCPUs: (hearth_allowed_cpu(0), hearth_allowed_cpu(1))
      case .unpinned: (-1, -1)
      }
    for (threads, cpu) in [(clients, client), (servers, server)] {
      for thread in threads where thread != 0 && hearth_place_thread(thread, cpu) != 0 && self != .unpinned {
        throw BenchError("a thread could not be put on CPU \(cpu)")
      }
    }
  }
}
