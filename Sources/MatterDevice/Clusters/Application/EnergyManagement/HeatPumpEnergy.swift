import MatterClusters
import MatterModel
import MatterProtocol

/// Device Energy Management of a heat pump: clients limit the electrical power of its compressor while it runs. Its
/// thermostat is a part of it. Application Clusters § 9.2.
public enum HeatPumpEnergy {
  private static let limit = ServerHook<Thermostat, Int64?>("powerLimit")
  private struct Limit: Sendable { let power: Int64 }

  /// The lowest power at which the compressor runs, in percent of the power that the weather and the heat require.
  private static let lowestShare: Int64 = 30

  /// Returns the server of Device Energy Management, for the endpoint of the heat pump.
  /// - Parameter highest: The highest electrical power in milliwatts.
  public static func management(upTo highest: Int64) -> ClusterServer {
    let appliance = EnergyAppliance(
      .spaceHeating, 0...max(highest, 0), features: [DeviceEnergyManagement.powerAdjustment])
    return EnergyManagementServer.make(appliance) { context, demand in
      for endpoint in context.family { context.call(limit, demand.power, on: endpoint) }
    }
  }

  /// Lets the thermostat of the heat pump follow the clients.
  /// - Parameter update: Called after each change of the limit. It calls ``take(_:in:)``.
  public static func adjusting(
    _ thermostat: ClusterServer, _ update: @escaping @Sendable (inout ServerContext) -> Void
  ) -> ClusterServer {
    thermostat
      .onStart { $0[scratch: Limit.self] = nil }
      .hook(limit) { context, power in
        context[scratch: Limit.self] = power.map { Limit(power: $0) }
        update(&context)
      }
  }

  /// Passes the power, or the lower limit of a client, to the electrical sensor and to Device Energy Management.
  /// - Parameter wanted: The power in milliwatts without a limit.
  /// - Returns: The part of the power that the heat pump takes, from 0 to 1.
  public static func take(_ wanted: Int64, in context: inout ServerContext) -> Double {
    let power = min(wanted, context[scratch: Limit.self]?.power ?? wanted)
    context.passLoad(power)
    var report = EnergyReport()
    report.power = power
    if wanted > 0 {
      let lowest = wanted / 100 * lowestShare
      report.capability = [.init(minPower: lowest, maxPower: wanted, minDuration: 60, maxDuration: 86_400)]
    }
    context.call(EnergyManagementServer.report, report, on: context.parent)
    return wanted > 0 ? Double(power) / Double(wanted) : 1
  }
}
