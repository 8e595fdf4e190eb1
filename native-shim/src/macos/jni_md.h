// The part of <jni.h> that differs between systems, on macOS: a JDK has the part of
// its own system only.
#ifndef _JAVASOFT_JNI_MD_H_
#define _JAVASOFT_JNI_MD_H_

#define JNIEXPORT __attribute__((visibility("default")))
#define JNIIMPORT __attribute__((visibility("default")))
#define JNICALL

typedef int jint;
typedef long jlong;
typedef signed char jbyte;

#endif  // _JAVASOFT_JNI_MD_H_
