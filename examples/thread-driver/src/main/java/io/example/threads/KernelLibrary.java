package io.example.threads;

import java.util.List;

/** Code for devices of this driver: a service, since executables of this driver carry no code. */
public interface KernelLibrary {

    /**
     * Returns the format of executables that refer to this library.
     *
     * @return for example {@code my-kernels}
     */
    String format();

    /**
     * Returns the exports.
     *
     * @param constants specialisation constants
     * @return the kernels by ordinal
     */
    List<Kernel> kernels(int[] constants);
}
