/** Claims about sessions with other nodes, and about devices of other nodes. */
package io.github.iree4j.hal.remote;
