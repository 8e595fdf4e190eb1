/** Claims about timelines. */
package io.github.iree4j.async;
