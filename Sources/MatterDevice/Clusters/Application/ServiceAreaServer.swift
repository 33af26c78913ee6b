public import MatterClusters
internal import MatterModel
internal import MatterProtocol

/// The Service Area server: the areas of a run, with their progress. Application Clusters § 1.17.
public enum ServiceAreaServer {
  /// An area of the definition; its id is its index from 1.
  public struct Area: Hashable, Sendable {
    /// Unique among the areas.
    public var name: String
    /// The kind of the room, if it is known.
    public var kind: AreaTypeTag?
    /// The usual time that the run takes there.
    public var duration: Duration

    public init(_ name: String, _ kind: AreaTypeTag? = nil, _ duration: Duration) {
      (self.name, self.kind, self.duration) = (name, kind, duration)
    }
  }

  /// The time that an area takes that was added later.
  private static let usualDuration = Duration.seconds(600)
  /// The longest LocationName in bytes.
  private static let maximumNameLength = 128

  /// The run changed.
  static let runChanged = ServerHook<ServiceArea, OperationRun?>("runChanged")

  /// Returns the server for a run of a cluster that derives from Operational State. The selection survives a restart.
  static func make<C: Cluster>(_ areas: [Area], of operation: C.Type) -> ClusterServer {
    let supported = areas.enumerated().map { index, area in
      ServiceArea.AreaStruct(
        areaID: UInt32(index + 1), mapID: .null,
        areaInfo: .init(
          locationInfo: .value(
            .init(
              locationName: area.name, floorNumber: .null, areaType: Nullable(area.kind))),
          landmarkInfo: .null))
    }
    return ClusterServer(ServiceArea.self, features: [ServiceArea.progressReporting])
      .initial(ServiceArea.supportedAreas, supported)
      .storing(ServiceArea.selectedAreas)
      .serving(ServiceArea.currentArea, ServiceArea.estimatedEndTime)
      .initial(ServiceArea.currentArea, .null)
      .limiting(ServiceArea.currentArea, to: 1...Int64(max(areas.count, 1)))
      .initial(ServiceArea.estimatedEndTime, .null)
      .onStart { context in
        // A changed definition may have fewer areas than the last run.
        dropUnsupported(&context)
        context[ServiceArea.currentArea] = .null
        context[ServiceArea.estimatedEndTime] = .null
        context[ServiceArea.progress] = []
      }
      // The user edits the areas in the app of the manufacturer.
      .onAct(ServiceArea.supportedAreas) { context, supported throws(StatusError) in
        guard !ApplianceServers.isRunning(C.self, &context) else { throw StatusError(.invalidInState) }
        let (ids, names) = (Set(supported.map(\.areaID)), Set(supported.map(name)))
        guard ids.count == supported.count, names.count == supported.count, supported.count <= 255,
          names.allSatisfy({ $0.utf8.count <= maximumNameLength })
        else { throw StatusError(.constraintError) }
        context[ServiceArea.supportedAreas] = supported
        dropUnsupported(&context)
      }
      // At the device, areas are also selected during a run; the next one cleans them.
      .onAct(ServiceArea.selectedAreas) { context, areas throws(StatusError) in
        guard let unique = unique(areas, &context) else { throw StatusError(.constraintError) }
        context[ServiceArea.selectedAreas] = unique
      }
      .deriving(ServiceArea.currentArea)
      .deriving(ServiceArea.estimatedEndTime)
      .deriving(ServiceArea.progress)
      .hook(runChanged) { context, run in show(run, areas, &context) }
      .answer(ServiceArea.selectAreas) { context, request throws(StatusError) in
        select(request.newAreas, OperationalStateBase<C>.self, &context)
      }
      .answer(ServiceArea.skipArea) { context, request throws(StatusError) in
        skip(request.skippedArea, areas, OperationalStateBase<C>.self, &context)
      }
  }

  /// Returns the selected areas, or all if none is selected.
  static func selection(_ areas: [Area], _ context: inout ServerContext) -> [Area] {
    let supported = supported(areas, &context)
    let selected = context[ServiceArea.selectedAreas].compactMap { id in supported.first { $0.id == id }?.area }
    return selected.isEmpty ? supported.map(\.area) : selected
  }

  /// Returns the supported areas: the areas of the definition that were not removed, and the ones added later.
  private static func supported(_ areas: [Area], _ context: inout ServerContext) -> [(id: UInt32, area: Area)] {
    context[ServiceArea.supportedAreas].map { entry in
      let name = name(entry)
      return (entry.areaID, areas.first { $0.name == name } ?? Area(name, nil, usualDuration))
    }
  }

  private static func name(_ area: ServiceArea.AreaStruct) -> String {
    area.areaInfo.locationInfo.wrapped?.locationName ?? "\(area.areaID)"
  }

  /// Removes areas that are not supported from the selection and the progress of the last run.
  private static func dropUnsupported(_ context: inout ServerContext) {
    let ids = Set(context[ServiceArea.supportedAreas].map(\.areaID))
    context[ServiceArea.selectedAreas] = context[ServiceArea.selectedAreas].filter(ids.contains)
    context[ServiceArea.progress] = context[ServiceArea.progress].filter { ids.contains($0.areaID) }
  }

  /// Returns the ids of areas without repetitions; nil if one of them is not supported.
  private static func unique(_ areas: [UInt32], _ context: inout ServerContext) -> [UInt32]? {
    var unique: [UInt32] = []
    for area in areas where !unique.contains(area) { unique.append(area) }
    let supported = Set(context[ServiceArea.supportedAreas].map(\.areaID))
    return unique.allSatisfy(supported.contains) ? unique : nil
  }

  private static func select<C: Cluster>(
    _ wanted: [UInt32], _: OperationalStateBase<C>.Type, _ context: inout ServerContext
  ) -> ServiceArea.SelectAreasResponse {
    guard let unique = unique(wanted, &context) else { return .init(status: .unsupportedArea, statusText: "") }
    guard unique != context[ServiceArea.selectedAreas] else { return .init(status: .success, statusText: "") }
    guard !ApplianceServers.isRunning(C.self, &context) else {
      return .init(status: .invalidInMode, statusText: "the areas can't be changed during a run")
    }
    context[ServiceArea.selectedAreas] = unique
    return .init(status: .success, statusText: "")
  }

  private static func skip<C: Cluster>(
    _ area: UInt32, _ areas: [Area], _: OperationalStateBase<C>.Type, _ context: inout ServerContext
  ) -> ServiceArea.SkipAreaResponse {
    guard !context[ServiceArea.selectedAreas].isEmpty else { return .init(status: .invalidAreaList, statusText: "") }
    guard let found = supported(areas, &context).first(where: { $0.id == area }) else {
      return .init(status: .invalidSkippedArea, statusText: "unknown area")
    }
    guard ApplianceServers.isRunning(C.self, &context) else {
      return .init(status: .invalidInMode, statusText: "no run is in progress")
    }
    let entry = context[ServiceArea.progress].first { $0.areaID == area }
    guard entry?.status == .pending || entry?.status == .operating else {
      return .init(status: .invalidSkippedArea, statusText: "the area is already finished or not part of this run")
    }
    context.call(OperationalStateBase<C>.request, .skip(found.area.name))
    return .init(status: .success, statusText: "")
  }

  private static func show(_ run: OperationRun?, _ areas: [Area], _ context: inout ServerContext) {
    // After a run, its progress stays.
    guard let run else { return }
    let supported = supported(areas, &context)
    func id(_ step: OperationRun.Progress) -> UInt32? { supported.first { $0.area.name == step.step.name }?.id }
    let current = run.current.flatMap { id(run.steps[$0]) }
    context[ServiceArea.currentArea] = Nullable(current)
    context[ServiceArea.progress] = run.steps.compactMap { step in
      id(step).map { area in
        let isOver = step.status == .completed || step.status == .skipped
        return ServiceArea.ProgressStruct(
          areaID: area, status: .init(rawValue: step.status.rawValue),
          totalOperationalTime: isOver ? .value(seconds(step.elapsed)) : .null,
          estimatedTime: .value(seconds(step.step.duration)))
      }
    }
    // Unknown while the run is paused, and without a clock.
    let end = run.nextChange
    context[ServiceArea.estimatedEndTime] = Nullable(end.flatMap { [context] in context.epochSeconds(at: $0) })
  }

  private static func seconds(_ time: Duration) -> UInt32 { UInt32(clamping: time.components.seconds) }
}
