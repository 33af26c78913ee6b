extension FixedWidthInteger {
  /// The sum, or the end of the range that it exceeds. For numbers from peers, files and databases.
  @inlinable public func saturatingAdd(_ other: Self) -> Self {
    let (result, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : result
  }

  /// The difference, or the end of the range that it exceeds. For numbers from peers, files and databases.
  @inlinable public func saturatingSubtract(_ other: Self) -> Self {
    let (result, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : result
  }

  /// The product, or the end of the range that it exceeds. For numbers from peers, files and databases.
  @inlinable public func saturatingMultiply(_ other: Self) -> Self {
    let (result, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? ((self < 0) == (other < 0) ? .max : .min) : result
  }
}
