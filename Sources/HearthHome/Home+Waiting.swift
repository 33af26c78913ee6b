internal import MatterProtocol
internal import NIOCore
internal import Runtime

extension Home {
  /// Waits until the connectivity of all these devices is known, or until the timeout, after which those that did not
  /// answer are marked as unreachable. If the task is canceled, they are not. If the hub can't be reached, an invited client
  /// reads the devices once, because it does not follow them.
  public func waitForConnectivity(of devices: Set<String>, timeout: Duration) async {
    if await isStored { return await readAll(devices, timeout: timeout) }
    let snapshots = self.devices().batched()
    let state = await backend.state
    let waits = devices.compactMap { id in
      PendingWork.begin("\(state.devices[id]?.name ?? "device \(id)") to answer").map { (id, $0) }
    }
    defer { for (_, wait) in waits { wait.end() } }
    // The wait ends with the state, not with a change.
    let waiting = PendingWork.$board.withValue(nil) {
      Tasks.start {
        for await all in snapshots {
          let known = Set(all.lazy.filter { $0.source?.status.connectivity.connectivityState != .unknown }.map(\.id))
          for (id, wait) in waits where known.contains(id) { wait.end() }
          // A device without a description is not in the list yet, so it is not known.
          if devices.isSubset(of: known) { return }
        }
      }
    }
    let timer = backend.eventLoop.scheduleTask(in: .nanoseconds(timeout.nanoseconds)) { waiting.cancel() }
    await withTaskCancellationHandler {
      await waiting.value
    } onCancel: {
      waiting.cancel()
    }
    timer.cancel()
    if !Task.isCancelled { await backend.stopWaiting(for: devices) }
  }

  /// Reads all attributes of devices. The answers determine their values and connectivity.
  private func readAll(_ devices: Set<String>, timeout: Duration) async {
    let state = await backend.state
    let nodes = Set(devices.compactMap { state.devices[$0]?.active?.id.node })
    await withTaskGroup(of: Void.self) { tasks in
      for node in nodes.sorted() {
        tasks.addTask { [backend] in _ = try? await backend.read(node, [AttributePath()], timeout: timeout) }
      }
    }
  }
}
