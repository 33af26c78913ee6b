internal import Synchronization

/// Hands something over to another thread together with the task-local values of who does so: a test that runs a simulation is
/// still that test to what is expected in it.
final class Handover: TaskExecutor {
  private struct State {
    var job: UnownedJob?
    var work: Confined<() -> Void>?
  }

  private let state = Mutex(State())

  /// To be called in the task whose values are meant.
  init() {
    _ = Task(executorPreference: self) { [self] in
      // Here already, and on the thread that has the work.
      state.withLock { $0.work.take() }?.value()
    }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.withLock { $0.job = job }
  }

  /// Does something on this thread, with those values. To be called once.
  func callAsFunction(_ work: @escaping () -> Void) {
    let job = state.withLock { state in
      state.work = Confined(work)
      return state.job.take()
    }
    job?.runSynchronously(on: asUnownedTaskExecutor())
  }
}
