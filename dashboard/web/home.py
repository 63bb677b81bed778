def __getattr__(n):
    from django.http import HttpResponse
    return lambda request, **k: HttpResponse(n)
