// The part of <jni.h> that differs on Windows: a JDK has that of its own system
// only.
#ifndef _JAVASOFT_JNI_MD_H_
#define _JAVASOFT_JNI_MD_H_

#define JNIEXPORT __declspec(dllexport)
#define JNIIMPORT __declspec(dllimport)
#define JNICALL  // x86_64 has one convention

typedef int jint;
typedef long long jlong;
typedef signed char jbyte;

#endif  // _JAVASOFT_JNI_MD_H_
