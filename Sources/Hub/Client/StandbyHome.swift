internal import HomeModel
internal import MatterModel

/// The home as received from a connected route that is not used.
struct StandbyHome {
  private var reducer = HomeReducer()
  private let locality: DataSourceLocality
  /// The process that follows the devices.
  var hub: HubState

  init(_ home: ReceivedHome, by locality: DataSourceLocality, at time: Int64) {
    self.locality = locality
    hub = home.hub
    reducer.merge(home.contacts)
    _ = reducer.reduce(.route(.home(home.state, home.debouncer, by: locality)), at: time)
  }

  func home(at time: Int64) -> ReceivedHome {
    var reducer = reducer
    _ = reducer.advance(to: time)
    return ReceivedHome(
      state: reducer.state, contacts: reducer.contacts, debouncer: reducer.debouncerState(at: time), hub: hub)
  }

  mutating func apply(_ update: HomeUpdate, _ contacts: [NodeID: Contact], at time: Int64) {
    reducer.merge(contacts)
    _ = reducer.reduce(.route(.update(update, by: locality)), at: time)
  }

  mutating func apply(_ contacts: [NodeID: Contact]) { reducer.merge(contacts) }

  mutating func apply(_ debouncer: DebouncerState, at time: Int64) {
    _ = reducer.reduce(.route(.debouncer(debouncer, by: locality)), at: time)
  }

  mutating func moveClock(by step: Int64) { reducer.moveClock(by: step) }
}
