/** Auto-configuration of clients: interfaces of the application that are programs. */
@NullMarked
package io.github.iree4j.spring.autoconfigure.client;

import org.jspecify.annotations.NullMarked;
