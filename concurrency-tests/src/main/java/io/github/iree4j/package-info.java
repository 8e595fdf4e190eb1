/** Claims about the front door: whose turn it is in a program. */
package io.github.iree4j;
