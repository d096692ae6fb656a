#pragma once

/// The library is compiled with hidden visibility, and a shared one exports what these headers
/// mark. The mark is on each declaration: clang does not apply a mark on the namespace to functions
/// that are defined in another file, and g++ not to classes that were declared before.
#define SPIKEWEAVE_API [[gnu::visibility("default")]]

/// Marks a private class within an exported one, because visibility is inherited.
#define SPIKEWEAVE_LOCAL [[gnu::visibility("hidden")]]
