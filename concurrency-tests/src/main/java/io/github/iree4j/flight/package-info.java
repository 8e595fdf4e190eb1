/** Claims about the flight recorder. */
package io.github.iree4j.flight;
