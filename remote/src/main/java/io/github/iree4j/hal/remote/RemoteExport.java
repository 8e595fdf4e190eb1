package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.ExecutableExport;
import java.util.BitSet;

/**
 * An entry point of code at the peer.
 *
 * @param export the description
 * @param read the bindings known not to be written
 */
record RemoteExport(ExecutableExport export, BitSet read) {}
